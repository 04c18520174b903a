// main: starts the page. What is static (verdict, main figures, subsystems) is there already; this adds the
// charts, the tables that need data, themes and journal tabs.
//
//     unpack plotly and data --> for each section of a journal: chart.draw(container, data, context)
//
// A chart is a file charts/NAME.js that registers
//
//     mallard.charts.NAME = {
//       title,                       // of its section
//       help,                        // how to read it; a sentence or two, shown on demand
//       missing(data) -> string,     // optional: why there is nothing to draw; "" draws
//       summary(data, context) -> string,  // optional: what it shows, in a sentence, above it
//       draw(container, data, context),    // may return a promise
//     };
//
// `draw` gets an empty container, and gets it again, emptied, whenever the theme changes. All that a user
// set in a chart (a metric, a zoom) is kept in `context.state`, which stays for the chart and journal.
//
//     data.profile    Profile of analysis/model.py
//     data.call_tree  CallTree: columns; culled, "(smaller)" holds what is too small to see
//     data.replay     JSON of mallard-replay, or null
//
//     context.state       an object of the chart's own
//     context.theme       colours of now: dark, text, muted, grid, panel, accent, series[], scale (plotly)
//     context.plot(container, traces, layout, config)  -> promise; Plotly.newPlot under the page's layout
//     context.subsystem_colour(index)
//     context.selection   what the user points at: get(what), set(what, value), on(what, callback);
//                         `what` is "span" ({from_ns, to_ns} or null), "subsystem" or "site" (index or null)
//     mallard.format      bytes, count, ns, share ...: figures with units (lib/format.js)
//     mallard.element(tag, attributes, ...children)    makes DOM elements (lib/element.js)
//     mallard.table       sortable, filterable tables (lib/table.js)

const { element } = mallard;

// The order of the page; "id" is the element in the static page that the chart goes into.
const charts_of_page = ["timeline", "dvluc", "flame", "heat", "threads", "replay"];

function restore_stacks(data) {
  for (const site of data.profile.sites) site.stack = site.stack.map((number) => data.frames[number]);
  delete data.frames;
  return data;
}

async function draw(name, panel, data, contexts) {
  const chart = mallard.charts[name];
  const section = panel.querySelector(`[data-chart="${name}"]`);
  if (!chart || !section) return;
  const reason = chart.missing ? chart.missing(data) : "";
  section.replaceChildren(
    element("h2", {}, chart.title),
    element("p", { class: "summary" }, reason || (chart.summary ? chart.summary(data, contexts[name]) : "")),
  );
  if (chart.help) {
    section.append(element("details", { class: "help" }, element("summary", {}, "How to read this"), chart.help));
  }
  section.hidden = false;
  if (reason) return;
  const container = element("div", { class: "chart" });
  section.append(container);
  await chart.draw(container, data, contexts[name]);
}

function purge(panel) {
  for (const plot of panel.querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
}

class Journal {
  constructor(panel, number) {
    this.panel = panel;
    this.number = number;
    this.selection = mallard.selection();
    this.state = {};
  }

  async load() {
    if (this.data) return;
    this.data = restore_stacks(JSON.parse(await mallard.unpack(`data-${this.number}`)));
  }

  // Draws all charts anew, each after the browser had its turn.
  async show() {
    await this.load();
    purge(this.panel);
    const theme = mallard.theme.now();
    const contexts = {};
    for (const name of charts_of_page) {
      this.state[name] ??= {};
      contexts[name] = mallard.context(theme, this.state[name], this.selection);
      await draw(name, this.panel, this.data, contexts);
      await new Promise((done) => setTimeout(done));
    }
  }
}

async function start() {
  const panels = [...document.querySelectorAll(".journal")];
  const journals = panels.map((panel, number) => new Journal(panel, number));
  const script = element("script");
  script.textContent = await mallard.unpack("plotly");
  document.head.append(script);
  await journals[0].show();
  document.documentElement.dataset.ready = "yes";
}

start();
