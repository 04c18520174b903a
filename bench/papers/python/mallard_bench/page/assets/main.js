// main: starts the page. What is static (findings, noise, machines) is there already; this adds the charts, one a
// benchmark, which are drawn in the section of their name (page.py), the filter of findings, tips and the theme.
//
//     data.runs      [{name, benchmark, cores, documents}] as data.py has them
//     data.paper     by benchmark, documents of the same form
//     data.titles    what DS1 ... are
//     data.families  labels of the paper's strategies, by family
//
//     context        as every page's (html/page/lib/drawing.js); its theme has also faster, slower and neutral

const colours = () => {
  const more = ["faster", "slower", "neutral"].map((name) => [name, mallard.theme.colour(name)]);
  return { ...mallard.theme.now(), ...Object.fromEntries(more) };
};

// Buttons that show findings of some verdicts only; what holds any of them opens when not all do.
function findings_filter(bar) {
  if (!bar) return;
  const buttons = [...bar.querySelectorAll("button")];
  const tables = [...document.querySelectorAll(".findings-of")];
  const apply = () => {
    const shown = new Set(buttons.filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.dataset.verdict));
    const some = shown.size < buttons.length;
    for (const table of tables) {
      const lines = [...table.querySelectorAll("li")];
      for (const line of lines) line.hidden = !shown.has(line.className);
      table.hidden = lines.every((line) => line.hidden);
      table.open = some && !table.hidden;
    }
    for (const run of document.querySelectorAll(".run-findings")) {
      run.hidden = [...run.querySelectorAll(".findings-of")].every((table) => table.hidden);
    }
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  bar.hidden = false;
}

async function start() {
  mallard.tip.start();
  findings_filter(document.getElementById("findings-filter"));
  await mallard.load_plotly();
  const data = JSON.parse(await mallard.unpack("data-0"));
  mallard.who.start(data.families);
  const states = {};
  let turn = 0;

  async function draw() {
    turn += 1;
    const mine = turn;
    document.documentElement.dataset.ready = "no";
    const theme = colours();
    for (const [name, chart] of Object.entries(mallard.charts)) {
      const place = document.querySelector(`[data-part="${name}"]`);
      if (!place) continue;
      for (const plot of place.querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
      states[name] ??= {};
      await mallard.draw(name, chart, place, data, mallard.context(theme, states[name]));
      await new Promise((done) => setTimeout(done));
      if (mine !== turn) return;
    }
    document.documentElement.dataset.ready = "yes";
  }

  mallard.theme.start(document.getElementById("theme"), draw);
  await draw();
}

if (typeof DecompressionStream === "undefined") document.getElementById("too-old").hidden = false;
else start();
