// heat_grid: the part of a HeatMap that holds anything, and where sizes and times lie in it.
//
//     rows: size classes      columns: lifetimes, the last apart: never freed
//     a row or column is 1 wide, its middle at its number; both grow by factors, so the axes are logarithmic

const { format } = mallard;

// The last of the 64 size classes has no upper end (src/profile/object.hpp).
const last_class = 448 * 1024;

// First and last index with anything in it; null if there is none.
function occupied(sums) {
  const first = sums.findIndex((sum) => sum > 0);
  return first < 0 ? null : [first, sums.findLastIndex((sum) => sum > 0)];
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

mallard.heat_grid = ({ sizes, lifetimes_ns, objects, bytes }) => {
  const ended = lifetimes_ns.length - 1;
  const rows = occupied(objects.map(sum)) ?? [0, sizes.length - 1];
  const in_column = (column) => sum(objects.map((row) => row[column]));
  const columns = occupied(lifetimes_ns.slice(0, ended).map((_, column) => in_column(column)));
  const size_text = (row) => {
    if (sizes[row] === last_class) return `over ${format.bytes(384 * 1024)}`;
    return row === 0 ? `at most ${format.bytes(sizes[row])}` : `over ${format.bytes(sizes[row - 1])}, up to ${format.bytes(sizes[row])}`;
  };
  const time_text = (column) => {
    if (column === ended) return "never freed";
    return `lived ${column === 0 ? "at most" : `${format.ns(lifetimes_ns[column - 1])} to`} ${format.ns(lifetimes_ns[column])}`;
  };
  const all = { objects: sum(objects.flat()), bytes: sum(bytes.flat()) };
  const cell_text = (row, column) =>
    `<b>${size_text(row)}</b>, ${time_text(column)}<br>${format.count(objects[row][column])} objects ` +
    `(${format.share(objects[row][column] / all.objects)})<br>${format.bytes(bytes[row][column])} (${format.share(bytes[row][column] / all.bytes)})`;

  // Where a size or a time lies on its axis.
  const row_of = (size) => {
    const found = sizes.findIndex((largest) => size <= largest);
    return found < 0 ? sizes.length - 1 : found;
  };
  const place_of = (ns) => {
    if (columns === null) return 0;
    const place = Math.log2(Math.max(1, ns) / lifetimes_ns[0]) + 0.5;
    return Math.min(columns[1] + 0.5, Math.max(columns[0] - 0.5, place));
  };
  const part = (values, from, to) => values.slice(rows[0], rows[1] + 1).map((row) => row.slice(from, to + 1));
  const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return { rows, columns, ended, all, part, numbers, cell_text, row_of, place_of };
};

// Ticks at powers of two, or at every second, fourth ... of them.
mallard.heat_size_ticks = ({ rows, numbers }, sizes) => {
  const name = (row) => (sizes[row] === last_class ? "larger" : format.bytes(sizes[row]));
  const powers = numbers(...rows).filter((row) => Number.isInteger(Math.log2(sizes[row])));
  const step = Math.ceil(powers.length / 16);
  const shown = powers.filter((_, at) => at % step === 0);
  if (sizes[rows[1]] === last_class) shown.push(rows[1]);
  return { tickvals: shown, ticktext: shown.map(name) };
};

// Ticks at powers of ten of a second that lie within the columns.
mallard.heat_time_ticks = ({ columns, place_of }, lifetimes_ns) => {
  if (columns === null) return { tickvals: [], ticktext: [] };
  const least = lifetimes_ns[columns[0]] / 2;
  const decades = Array.from({ length: 14 }, (_, power) => 10 ** power).filter((ns) => least <= ns && ns <= lifetimes_ns[columns[1]]);
  const step = Math.ceil(decades.length / 9);
  const shown = decades.filter((_, at) => at % step === 0);
  return { tickvals: shown.map(place_of), ticktext: shown.map(format.ns) };
};
