// drawing: a chart with all around it.
//
// A chart is a file charts/NAME.js that registers
//
//     mallard.charts.NAME = {
//       title,                       // names the chart for those who cannot see it
//       help,                        // how to read it; a sentence or two, shown on demand
//       missing(data) -> string,     // optional: why there is nothing to draw; "" draws
//       summary(data, context) -> string,  // optional: what it shows, in a sentence, above it
//       draw(container, data, context),    // may return a promise
//     };
//
// `draw` gets an empty container, and gets it again, emptied, whenever the theme changes. All that a user set in
// a chart (a metric, a zoom) is kept in `context.state`.
//
// What `draw` is given beside its data, the context; a page may add to it:
//
//     state       an object of the chart's own, in which it keeps what a user set
//     theme       colours of now: dark, text, muted, grid, panel, accent, series[], scale (plotly)
//     plot(container, traces, layout, config)  -> promise; Plotly.newPlot under the page's layout

// What the page holds compressed: the text of an element ...
mallard.unpack = async (id) => {
  const holder = document.getElementById(id);
  const characters = atob(holder.textContent.trim());
  holder.remove();
  const packed = new Uint8Array(characters.length);
  for (let i = 0; i < packed.length; i += 1) packed[i] = characters.charCodeAt(i);
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
};

// ... and plotly: once, so that charts can use it.
mallard.load_plotly = async () => {
  const script = mallard.element("script");
  script.textContent = await mallard.unpack("plotly");
  document.head.append(script);
};

function base_layout(theme) {
  const axis = {
    gridcolor: theme.grid,
    linecolor: theme.grid,
    zerolinecolor: theme.grid,
    tickcolor: theme.grid,
    automargin: true,
    title: { standoff: 8 },
  };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.text },
    colorway: theme.series,
    margin: { l: 60, r: 16, t: 12, b: 44 },
    hoverlabel: { bgcolor: theme.panel, bordercolor: theme.muted, font: { color: theme.text }, align: "left" },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.muted, activecolor: theme.text },
    xaxis: axis,
    yaxis: axis,
  };
}

// A layout over another: objects are joined, all else is replaced. Further axes are like the first.
function joined(base, over) {
  const result = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = result[name] ?? (/^[xy]axis\d+$/.test(name) ? base[name.slice(0, 5)] : undefined);
    const both = below?.constructor === Object && value?.constructor === Object;
    result[name] = both ? joined(below, value) : value;
  }
  return result;
}

const base_config = { responsive: true, displaylogo: false, scrollZoom: false };

mallard.context = (theme, state) => ({
  theme,
  state,
  plot: (container, traces, layout = {}, config = {}) =>
    Plotly.newPlot(container, traces, joined(base_layout(theme), layout), { ...base_config, ...config }),
});

// A chart with all around it, in the place that the static page has for it.
async function drawn(name, chart, place, data, context) {
  const { element } = mallard;
  const reason = chart.missing ? chart.missing(data) : "";
  const summary = reason || (chart.summary ? chart.summary(data, context) : "");
  if (summary) place.append(element("p", { class: "summary" }, summary));
  if (reason) return;
  const scheme = context.theme.dark ? "dark" : "light";
  const about = { class: `chart ${scheme}`, role: "group", "aria-label": chart.title, "data-chart": name };
  const container = element("div", about);
  place.append(container);
  if (chart.help) {
    place.append(element("details", { class: "help" }, element("summary", {}, "How to read this"), element("p", {}, chart.help)));
  }
  await chart.draw(container, data, context);
}

// A chart that cannot be drawn says so, and leaves the others alone.
mallard.draw = async (name, chart, place, data, context) => {
  place.replaceChildren();
  try {
    await drawn(name, chart, place, data, context);
  } catch (error) {
    console.error(error);
    place.replaceChildren(mallard.element("p", { class: "notice" }, `This could not be drawn: ${error.message}`));
  }
};
