// heat_grid: the part of a HeatMap that holds anything, and where sizes and times lie in it.
//
//     rows: size classes      columns: lifetimes, the last apart: never freed
//     a row or column is 1 wide, its middle at its number; both grow by factors, so the axes are logarithmic

const { format } = mallard;

// First and last index with anything in it; null if there is none.
function occupied(sums) {
  const first = sums.findIndex((sum) => sum > 0);
  return first < 0 ? null : [first, sums.findLastIndex((sum) => sum > 0)];
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

mallard.heat_grid = ({ sizes, lifetimes_ns, objects, bytes }) => {
  const ended = lifetimes_ns.length - 1;
  const rows = occupied(objects.map(sum)) ?? [0, sizes.length - 1];
  const columns = occupied(lifetimes_ns.slice(0, ended).map((_, column) => sum(objects.map((row) => row[column])))) ?? [0, ended - 1];
  const least_size = (row) => (row === 0 ? 0 : sizes[row - 1] + 1);
  const size_text = (row) => (least_size(row) === sizes[row] ? format.bytes(sizes[row]) : `${least_size(row)} to ${format.count(sizes[row])} B`);
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
    const place = Math.log2(Math.max(1, ns) / lifetimes_ns[0]) + 0.5;
    return Math.min(columns[1] + 0.5, Math.max(columns[0] - 0.5, place));
  };
  const part = (values, from, to) => values.slice(rows[0], rows[1] + 1).map((row) => row.slice(from, to + 1));
  const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return { rows, columns, ended, all, part, numbers, cell_text, row_of, place_of };
};

// Ticks at powers of ten of a second that lie within the columns.
mallard.heat_time_ticks = ({ columns, place_of }, lifetimes_ns) => {
  const least = lifetimes_ns[columns[0]] / 2;
  const decades = Array.from({ length: 14 }, (_, power) => 10 ** power).filter((ns) => least <= ns && ns <= lifetimes_ns[columns[1]]);
  const step = Math.ceil(decades.length / 9);
  const shown = decades.filter((_, at) => at % step === 0);
  return { tickvals: shown.map(place_of), ticktext: shown.map(format.ns) };
};
