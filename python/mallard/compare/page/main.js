// main: starts the page and draws its bars: a chart for each figure, a bar for each malloc, with its interval.
//
//     data.rows   the rows of `mallard compare --json`, the base first; a figure is {median, low, high} or null
//     context     as every page's (html/page/lib/drawing.js)
//     mallard.figures   by member of a row, what the figure is called

const { element, format } = mallard;

// Figures further apart than this are drawn on a logarithmic axis, as in Figure 8.8 of the thesis.
const far_apart = 12;
const bar_height = 24;

const units = {
  cpu_s: { plain: (value) => value * 1e9, write: format.ns, axis: mallard.axis_unit.ns },
  elapsed_s: { plain: (value) => value * 1e9, write: format.ns, axis: mallard.axis_unit.ns },
  max_rss_bytes: { plain: (value) => value, write: format.bytes, axis: mallard.axis_unit.bytes },
  figure: { plain: (value) => value, write: format.number, axis: () => ({ name: "", of: (value) => value }) },
};
const counted = { plain: (value) => value, write: format.count, axis: () => ({ name: "", of: (value) => value }) };

function colour(row, base, theme) {
  if (row.repeated) return theme.muted;
  return row === base ? theme.text : theme.series[0];
}

function bounds(row, name, write, plain) {
  const { median, low, high } = row[name];
  const ratio = row.ratios[name];
  const times = ratio ? `<br>${format.number(ratio.median)} (${format.number(ratio.low)} to ${format.number(ratio.high)}) x` : "";
  return `<b>${row.name}</b><br>${write(plain(median))} (${write(plain(low))} to ${write(plain(high))})${times}`;
}

function draw_bars(plot, name, rows, base, kind, context) {
  const { plain, write, axis } = units[name] ?? counted;
  const { theme } = context;
  const unit = axis(Math.max(...rows.map((row) => plain(row[name].high))));
  const at = (value) => unit.of(plain(value));
  const medians = rows.map((row) => at(row[name].median));
  const log = kind === "log" && Math.min(...medians) > 0;
  const bars = {
    type: "bar",
    orientation: "h",
    x: medians,
    y: rows.map((row) => row.name),
    marker: { color: rows.map((row) => colour(row, base, theme)) },
    error_x: {
      type: "data",
      symmetric: false,
      array: rows.map((row) => at(row[name].high) - at(row[name].median)),
      arrayminus: rows.map((row) => at(row[name].median) - at(row[name].low)),
      color: theme.muted,
      thickness: 1.5,
      width: 4,
    },
    hovertext: rows.map((row) => bounds(row, name, write, plain)),
    hovertemplate: "%{hovertext}<extra></extra>",
  };
  const line = { type: "line", xref: "x", yref: "paper", x0: medians[0], x1: medians[0], y0: 0, y1: 1, line: { color: theme.text, width: 1, dash: "dot" } };
  return context.plot(plot, [bars], {
    height: 60 + bar_height * Math.max(3, rows.length),
    margin: { l: 60, r: 16, t: 4, b: 40 },
    bargap: 0.35,
    showlegend: false,
    hovermode: "closest",
    xaxis: { title: { text: unit.name }, fixedrange: true, ...(log ? { type: "log", dtick: "D2" } : { rangemode: "tozero" }) },
    yaxis: { fixedrange: true, type: "category", categoryorder: "array", categoryarray: rows.map((row) => row.name).reverse(), automargin: true },
    shapes: medians[0] > 0 ? [line] : [],
  }, { modeBarButtons: [["toImage"]] });
}

mallard.charts.bars = {
  title: "Mallocs",
  help:
    "A bar is the median of all rounds, the thin line on it the interval in which the true median lies with 95 %. The " +
    "dotted line is the median of the first malloc, with which the others are compared; the grey bar is the same malloc " +
    "measured a second time: what differs no more than these two is noise.",

  missing: ({ rows }) => (rows.length === 0 ? "No malloc was measured." : ""),

  async draw(container, { rows }, context) {
    const { state } = context;
    const grid = element("div", { style: "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 4px 24px" });
    container.append(grid);
    const drawings = [];  // when all have their place, for one draws as wide as its place is
    for (const [name, title] of Object.entries(mallard.figures)) {
      const known = rows.filter((row) => row[name]);
      if (known.length === 0 || known.every((row) => row[name].high === 0)) continue;
      const medians = known.map((row) => row[name].median);
      state[name] ??= Math.min(...medians) > 0 && Math.max(...medians) / Math.min(...medians) > far_apart ? "log" : "linear";
      const plot = element("div", { role: "img", "aria-label": `${title}: ${known.map((row) => `${row.name} ${(units[name] ?? counted).write((units[name] ?? counted).plain(row[name].median))}`).join(", ")}` });
      const axis = mallard.choice(`Axis of ${title}`, [["linear", "Linear"], ["log", "Logarithmic"]], state[name], (value) => {
        state[name] = value;
        return draw_bars(plot, name, known, rows[0], value, context);
      });
      const heading = element("div", { class: "toolbar" }, element("h3", { style: "margin: 0" }, title[0].toUpperCase() + title.slice(1)), axis);
      grid.append(element("div", { style: "min-width: 0", "data-figure": name }, heading, plot));
      drawings.push(() => draw_bars(plot, name, known, rows[0], state[name], context));
    }
    for (const drawing of drawings) await drawing();
  },
};

async function start() {
  mallard.tip.start();
  for (const table of document.querySelectorAll("table.sortable")) mallard.table.sortable(table);
  await mallard.load_plotly();
  const data = JSON.parse(await mallard.unpack("data-0"));
  const place = document.querySelector('[data-part="bars"]');
  const state = {};
  let turn = 0;

  async function draw() {
    turn += 1;
    const mine = turn;
    document.documentElement.dataset.ready = "no";
    for (const plot of place.querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
    await mallard.draw("bars", mallard.charts.bars, place, data, mallard.context(mallard.theme.now(), state));
    if (mine === turn) document.documentElement.dataset.ready = "yes";
  }

  mallard.theme.start(document.getElementById("theme"), draw);
  await draw();
}

if (typeof DecompressionStream === "undefined") document.getElementById("too-old").hidden = false;
else start();
