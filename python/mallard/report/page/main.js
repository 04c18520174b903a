// main: starts the page. What is static (verdict, main figures, subsystems) is there already; this adds the
// charts, the table of sites, tabs, tips and the theme.
//
//     unpack plotly and data --> for each section of a journal: chart.draw(container, data, context)
//
// A chart is a file charts/NAME.js (html/page/lib/drawing.js says what is in it), drawn in the section of that
// name (SECTIONS of panel.py). What is kept in `context.state` stays for the chart and journal.
//
//     data.profile    Profile of analysis/model.py
//     data.call_tree  CallTree: columns; culled, "(smaller)" holds what is too small to see
//     data.replay     JSON of mallard-replay, or null; then data.replay_hint says why
//     data.journal    the journal's name as a word of a command
//
//     context             as every page's (html/page/lib/drawing.js), and:
//     context.subsystem_colour(index)
//     context.selection   what the user points at: get(what), set(what, value), on(what, callback);
//                         `what` is "span" ({from_ns, to_ns} or null), "subsystem" or "site" (index or null),
//                         or "stack" (frames, innermost first, that the call tree shows);
//                         what a chart hears is forgotten when it is drawn again
//     mallard.format      bytes, count, ns, share ...: figures with units (lib/format.js)
//     mallard.element(tag, attributes, ...children)    makes DOM elements (lib/element.js)
//     mallard.dimensions  D V L U C: letter, name, formula, range (method.py)
//     mallard.most_memory of the best malloc's: a strategy that holds more is no bargain (verdict.py)

function restore_stacks(data) {
  for (const site of data.profile.sites) site.stack = site.stack.map((number) => data.frames[number]);
  delete data.frames;
  return data;
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
    this.data = mallard.whole_replay(restore_stacks(JSON.parse(await mallard.unpack(`data-${this.number}`))));
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
      const context = { ...mallard.context(colours, this.states[name]), selection, subsystem_colour: mallard.subsystem_colour(colours) };
      await mallard.draw(name, chart, this.place(name), this.data, context);
      await new Promise((done) => setTimeout(done));
      if (this.drawn !== theme) return;
    }
  }
}

async function start() {
  mallard.tip.start();
  const panels = [...document.querySelectorAll(".journal")];
  const journals = panels.map((panel, number) => new Journal(panel, number));
  await mallard.load_plotly();

  let theme = 0;
  let current = 0;
  const busy = new Set();
  async function show(number) {
    current = number;
    if (panels.length === 0) return void (document.documentElement.dataset.ready = "yes");
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
