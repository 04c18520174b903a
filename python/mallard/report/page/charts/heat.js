// heat: objects by size and by lifetime, those that were never freed in a column of their own.
//
//     rows: size classes      columns: lifetimes, the last apart: never freed
//     a row or column is 1 wide, its middle at its number; both grow by factors, so the axes are logarithmic

const { element, format } = mallard;

// The last of the 64 size classes has no upper end (src/profile/object.hpp).
const last_class = 448 * 1024;

// First and last index with anything in it; null if there is none.
function occupied(sums) {
  const first = sums.findIndex((sum) => sum > 0);
  return first < 0 ? null : [first, sums.findLastIndex((sum) => sum > 0)];
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

const heat_grid = ({ sizes, lifetimes_ns, objects, bytes }) => {
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
const heat_size_ticks = ({ rows, numbers }, sizes) => {
  const name = (row) => (sizes[row] === last_class ? "larger" : format.bytes(sizes[row]));
  const powers = numbers(...rows).filter((row) => Number.isInteger(Math.log2(sizes[row])));
  const step = Math.ceil(powers.length / 16);
  const shown = powers.filter((_, at) => at % step === 0);
  if (sizes[rows[1]] === last_class) shown.push(rows[1]);
  return { tickvals: shown, ticktext: shown.map(name) };
};

// Ticks at powers of ten of a second that lie within the columns.
const heat_time_ticks = ({ columns, place_of }, lifetimes_ns) => {
  if (columns === null) return { tickvals: [], ticktext: [] };
  const least = lifetimes_ns[columns[0]] / 2;
  const decades = Array.from({ length: 14 }, (_, power) => 10 ** power).filter((ns) => least <= ns && ns <= lifetimes_ns[columns[1]]);
  const step = Math.ceil(decades.length / 9);
  const shown = decades.filter((_, at) => at % step === 0);
  return { tickvals: shown.map(place_of), ticktext: shown.map(format.ns) };
};

const metrics = {
  objects: { text: "Objects", write: format.count },
  bytes: { text: "Bytes", write: format.bytes },
};

function heat_traces(heat_map, grid, metric, theme) {
  const { rows, columns, ended, part, numbers, cell_text } = grid;
  const values = heat_map[metric];
  const y = numbers(...rows);
  const coloured = mallard.log_colours(part(values, 0, ended), theme.scale, metrics[metric].write);
  const trace = (from, to) => {
    const x = numbers(from, to);
    return {
      ...coloured,
      x,
      y,
      z: coloured.z.map((row) => row.slice(from, to + 1)),
      hovertext: y.map((row) => x.map((column) => cell_text(row, column))),
      xgap: 1,
      ygap: 1,
    };
  };
  const never = { ...trace(ended, ended), x: [0], xaxis: "x2", showscale: columns === null };
  return columns === null ? [never] : [trace(...columns), never];
}

// Where most of a subsystem's objects are: a frame around all but the last hundredth, a cross at the medians.
function mark(subsystem, grid, theme) {
  const { sizes, lifetime_ns } = subsystem.behaviour;
  const line = { color: theme.warning, width: 2 };
  const [low, high] = [grid.row_of(sizes.min) - 0.5, grid.row_of(sizes.p99) + 0.5];
  const name = mallard.short_name(subsystem.name);
  if (!lifetime_ns) return { shapes: [{ type: "rect", xref: "x2", x0: -0.5, x1: 0.5, y0: low, y1: high, line }], annotations: [] };
  const [x, y] = [grid.place_of(lifetime_ns.p50), grid.row_of(sizes.p50)];
  return {
    shapes: [{ type: "rect", x0: grid.place_of(lifetime_ns.min), x1: grid.place_of(lifetime_ns.p99), y0: low, y1: high, line }],
    annotations: [
      { x, y, text: "✚", showarrow: false, font: { color: theme.warning, size: 14 } },
      { x, y, text: `median of ${name}`, ax: 0, ay: -22, arrowcolor: theme.warning, bgcolor: theme.panel, bordercolor: theme.warning },
    ],
  };
}

function heat_layout(heat_map, grid, theme, chosen) {
  const rows = grid.rows[1] - grid.rows[0] + 1;
  const columns = grid.columns ?? [0, 0];
  const marked = chosen ? mark(chosen, grid, theme) : {};
  return {
    height: Math.max(260, Math.min(560, 110 + 11 * rows)),
    hovermode: "closest",
    xaxis: {
      title: { text: "lifetime" },
      domain: [0, 0.93],
      range: [columns[0] - 0.5, columns[1] + 0.5],
      fixedrange: true,
      zeroline: false,
      showgrid: false,
      ticks: "outside",
      ...heat_time_ticks(grid, heat_map.lifetimes_ns),
    },
    xaxis2: { domain: [0.945, 1], range: [-0.5, 0.5], fixedrange: true, zeroline: false, showgrid: false, tickvals: [0], ticktext: ["never<br>freed"] },
    yaxis: {
      title: { text: "size" },
      range: [grid.rows[0] - 0.5, grid.rows[1] + 0.5],
      fixedrange: true,
      zeroline: false,
      showgrid: false,
      ...heat_size_ticks(grid, heat_map.sizes),
    },
    ...marked,
  };
}

function subsystem_list(profile, selection) {
  const options = profile.subsystems.map((_, index) => element("option", { value: index }, mallard.subsystem_name(profile, index, 60)));
  const list = element(
    "select",
    { "aria-label": "Mark a subsystem", change: () => selection.set("subsystem", list.value === "" ? null : Number(list.value)) },
    element("option", { value: "" }, "mark a subsystem"),
    ...options,
  );
  const show = () => {
    list.value = String(selection.get("subsystem") ?? "");
  };
  return { list, show };
}

function largest_cell({ objects }) {
  let [row, column] = [0, 0];
  for (const [y, cells] of objects.entries()) {
    for (const [x, count] of cells.entries()) if (count > objects[row][column]) [row, column] = [y, x];
  }
  return [row, column];
}

mallard.charts.heat = {
  title: "Sizes and lifetimes",
  help:
    "Each cell holds the objects of a size class (four to a doubling) and of a lifetime within a factor of two; its " +
    "colour is their number or their bytes, by the logarithm. What is left and low is short-lived and small, where " +
    "pools and regions can pay; the column at the right holds what was never freed. A marked subsystem has 99 % " +
    "of its sizes and lifetimes within the frame.",

  missing: ({ profile }) => (profile.heat_map.objects.flat().some((count) => count > 0) ? "" : "There are no objects to show."),

  summary({ profile }) {
    const { heat_map } = profile;
    const grid = heat_grid(heat_map);
    const never = heat_map.objects.reduce((total, row) => total + row.at(-1), 0);
    const [row, column] = largest_cell(heat_map);
    const where = grid.cell_text(row, column).replace(/<br>.*/s, "").replace(/<[^>]*>/g, "");
    return (
      `The fullest cell has ${format.share(heat_map.objects[row][column] / grid.all.objects)} of all objects: ${where}. ` +
      `${format.share(never / grid.all.objects)} were never freed.`
    );
  },

  async draw(container, data, context) {
    const { profile } = data;
    const { state, theme, selection } = context;
    const grid = heat_grid(profile.heat_map);
    state.metric ??= "objects";
    const options = Object.entries(metrics).map(([value, { text }]) => [value, text]);
    const metric = mallard.choice("Colour of a cell", options, state.metric, (value) => {
      state.metric = value;
      return draw_plot();
    });
    const subsystems = subsystem_list(profile, selection);
    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}` });
    container.append(element("div", { class: "toolbar" }, metric, subsystems.list), plot);

    async function draw_plot() {
      subsystems.show();
      const chosen = profile.subsystems[selection.get("subsystem")];
      const traces = heat_traces(profile.heat_map, grid, state.metric, theme);
      await context.plot(plot, traces, heat_layout(profile.heat_map, grid, theme, chosen), { modeBarButtons: [["toImage"]] });
    }

    selection.on("subsystem", draw_plot);
    await draw_plot();
  },
};
