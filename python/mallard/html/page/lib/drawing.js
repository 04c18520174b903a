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
