// main: starts the page. What is static (tables, machines, method) is there already; this adds the charts of each
// replay, tabs and the theme.
//
//     div data-replay=N  <--  data-N: {replay, journal}     its places are filled by the charts of their names

class Replay {
  constructor(place) {
    this.place = place;
    this.states = {};
  }

  async draw(colours, stale) {
    this.data ??= mallard.whole_replay(JSON.parse(await mallard.unpack(`data-${this.place.dataset.replay}`)));
    for (const place of this.place.querySelectorAll("[data-part]")) {
      const name = place.dataset.part;
      for (const plot of place.querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
      this.states[name] ??= {};
      await mallard.draw(name, mallard.charts[name], place, this.data, mallard.context(colours, this.states[name]));
      await new Promise((done) => setTimeout(done));
      if (stale()) return;
    }
  }
}

async function start() {
  mallard.tip.start();
  for (const table of document.querySelectorAll("table.sortable")) mallard.table.sortable(table);
  await mallard.load_plotly();
  const panels = [...document.querySelectorAll(".journal")];
  const replays = panels.map((panel) => [...panel.querySelectorAll("[data-replay]")].map((place) => new Replay(place)));
  let [theme, current] = [0, 0];
  const drawn = panels.map(() => null);

  async function show(number) {
    current = number;
    if (drawn[number] === theme) return;
    const mine = theme;
    drawn[number] = mine;
    document.documentElement.dataset.ready = "no";
    for (const replay of replays[number]) await replay.draw(mallard.theme.now(), () => mine !== theme);
    if (mine === theme && number === current) document.documentElement.dataset.ready = "yes";
  }
  mallard.theme.start(document.getElementById("theme"), () => {
    theme += 1;
    show(current);
  });
  await mallard.tabs.start(document.querySelector(".tabs"), panels, show);
}

if (typeof DecompressionStream === "undefined") document.getElementById("too-old").hidden = false;
else start();
