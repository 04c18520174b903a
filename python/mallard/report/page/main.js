// main: starts the page. What is static (verdict, main figures, subsystems) is there already; this adds the
// charts, the table of sites, tabs, tips and the theme.
//
//     unpack plotly and data --> for each section of a journal: chart.draw(container, data, context)
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
// and is drawn in the section of that name (SECTIONS of panel.py). `draw` gets an empty container, and gets it
// again, emptied, whenever the theme changes. All that a user set in a chart (a metric, a zoom) is kept in
// `context.state`, which stays for the chart and journal.
//
//     data.profile    Profile of analysis/model.py
//     data.call_tree  CallTree: columns; culled, "(smaller)" holds what is too small to see
//     data.replay     JSON of mallard-replay, or null; then data.replay_hint says why
//
//     context.state       an object of the chart's own
//     context.theme       colours of now: dark, text, muted, grid, panel, accent, series[], scale (plotly)
//     context.plot(container, traces, layout, config)  -> promise; Plotly.newPlot under the page's layout
//     context.subsystem_colour(index)
//     context.selection   what the user points at: get(what), set(what, value), on(what, callback);
//                         `what` is "span" ({from_ns, to_ns} or null), "subsystem" or "site" (index or null),
//                         or "stack" (frames, innermost first, that the call tree shows);
//                         what a chart hears is forgotten when it is drawn again
//     mallard.format      bytes, count, ns, share ...: figures with units (lib/format.js)
//     mallard.element(tag, attributes, ...children)    makes DOM elements (lib/element.js)
//     mallard.dimensions  D V L U C: letter, name, formula, range (formulas.py)

const { element } = mallard;

function restore_stacks(data) {
  for (const site of data.profile.sites) site.stack = site.stack.map((number) => data.frames[number]);
  delete data.frames;
  return data;
}

// A chart with all around it, in the place that the static page has for it.
async function draw(name, chart, place, data, context) {
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
async function draw_or_tell(name, chart, place, data, context) {
  place.replaceChildren();
  try {
    await draw(name, chart, place, data, context);
  } catch (error) {
    console.error(error);
    place.replaceChildren(element("p", { class: "notice" }, `This could not be drawn: ${error.message}`));
  }
}

class Journal {
  constructor(panel, number) {
    this.panel = panel;
    this.number = number;
    this.selection = mallard.selection();
    this.states = {};
    this.drawn = null;
  }

  place(name) {
    return this.panel.querySelector(`[data-part="${name}"]`);
  }

  // What is made once: tables and what their rows select.
  async load() {
    this.data = restore_stacks(JSON.parse(await mallard.unpack(`data-${this.number}`)));
    mallard.sites.draw(this.place("sites"), this.data, this.selection);
    for (const table of this.panel.querySelectorAll("table.sortable")) mallard.table.sortable(table);
    mallard.subsystems.start(this.panel.querySelector("table.subsystems"), this.selection);
  }

  // Draws what is not drawn in the colours of now; the browser has its turn after each chart.
  async show(theme) {
    if (this.drawn === theme) return;
    this.drawn = theme;
    if (!this.data) await this.load();
    const colours = mallard.theme.now();
    for (const [name, chart] of Object.entries(mallard.charts)) {
      for (const plot of this.place(name).querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
      this.states[name] ??= {};
      const selection = this.selection.of_chart(name);
      await draw_or_tell(name, chart, this.place(name), this.data, mallard.context(colours, this.states[name], selection));
      await new Promise((done) => setTimeout(done));
      if (this.drawn !== theme) return;
    }
  }
}

async function start() {
  mallard.tip.start();
  const panels = [...document.querySelectorAll(".journal")];
  const journals = panels.map((panel, number) => new Journal(panel, number));
  const script = element("script");
  script.textContent = await mallard.unpack("plotly");
  document.head.append(script);

  let theme = 0;
  let current = 0;
  const busy = new Set();
  async function show(number) {
    current = number;
    const work = journals[number].show(theme);
    busy.add(work);
    document.documentElement.dataset.ready = "no";
    await work;
    busy.delete(work);
    if (busy.size === 0) document.documentElement.dataset.ready = "yes";
  }
  mallard.theme.start(document.getElementById("theme"), () => {
    theme += 1;
    show(current);
  });
  for (const table of document.querySelectorAll(".comparison table")) mallard.table.sortable(table);
  await mallard.tabs.start(document.querySelector(".tabs"), panels, show);
}

if (typeof DecompressionStream === "undefined") document.getElementById("too-old").hidden = false;
else start();
