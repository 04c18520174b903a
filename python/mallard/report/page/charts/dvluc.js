// dvluc: D V L U C of the subsystems side by side, a bar for each. The table below has the other figures.

const { element, format } = mallard;
const { bytes, count, ns, number, unit } = format;

const first_rows = 12;

const headings = { D: "density", V: "variation", L: "compactness*", U: "utilization", C: "contention" };

const threads = (active) => `${count(active)} active ${active === 1 ? "thread" : "threads"}`;

// Whose bars are drawn over the largest of all rows: what is always small would else be no bar at all.
const by_largest = new Set(["D", "C"]);

// As figures for a row.
const figures_of = ({ density, variation, locality, utilization, contention }) => ({
  D: density.value,
  V: variation.value,
  L: locality.lines,
  U: utilization.value,
  C: contention.value,
});

const scale_of = (letter, rows) => {
  if (!by_largest.has(letter)) return 1;
  return Math.max(...rows.map((row) => row[letter] ?? 0)) || 1;
};

function diffusion({ pages_first, pages_last }) {
  if (pages_first === null || pages_last === null) return "";
  return `; pages from ${unit(pages_first)} in the first quarter to ${unit(pages_last)} in the last`;
}

// As sentences with what they come from.
const sentences_of = ({ density, variation, locality, utilization, contention }) => ({
  D:
    density.value === null
      ? `not known; ${count(density.operations)} operations, ${count(density.timed)} timed`
      : `${unit(density.value)}: ${ns(density.cost_ns)} for ${count(density.operations)} operations, ${count(density.timed)} of them timed`,
  V: `${unit(variation.value)}: ${number(variation.entropy)} of 6 bits, ${count(variation.classes)} size classes`,
  L: `not measured; compactness ${unit(locality.lines)} in lines, ${unit(locality.pages)} in pages${diffusion(locality)}`,
  U: `${unit(utilization.value)}: at most ${bytes(utilization.max_live_bytes)} live of ${bytes(utilization.bytes)} allocated`,
  C:
    contention.value === null
      ? `not known; ${threads(contention.active_threads)}`
      : `${unit(contention.value)}: ${number(contention.overlaps)} expected overlaps, ${threads(contention.active_threads)}`,
});

function heading({ letter, name, formula, range }, scale) {
  const scaled = scale === 1 ? "0 to 1" : `0 to ${format.unit(scale)}`;
  return element(
    "th",
    { scope: "col", tabindex: "0", "data-tip": `${letter}, ${name}: ${formula}. Range: ${range}. Bars: ${scaled}.` },
    element("strong", {}, letter),
    ` ${headings[letter]}`,
    element("small", {}, scaled),
  );
}

function bar(value, scale, tip) {
  const fill = element("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(1, (value ?? 0) / scale)}%`;
  return element("td", { "data-tip": tip }, element("span", { class: "track" }, fill), element("span", { class: "value" }, format.unit(value)));
}

mallard.charts.dvluc = {
  title: "D V L U C of subsystems",
  help:
    "Each bar is one of the five dimensions; bars of D and C reach up to the largest of their column, the others up " +
    "to 1. Point at a heading for its formula and at a bar for the raw figures; choose a subsystem to read all of " +
    "them below, and to see it in the other charts. *L itself is not measured, since a journal has no accesses; " +
    "compactness of lines stands beside it.",

  missing: ({ profile }) => (profile.subsystems.length > 0 ? "" : "No subsystem was found."),

  summary({ profile }) {
    const [first] = profile.subsystems;
    const density = first.dvluc.density.value;
    const most = density === null ? "" : ` ${mallard.subsystem_name(profile, 0)} has the highest D, ${format.unit(density)}.`;
    const many = profile.subsystems.length;
    return `${format.count(many)} ${many === 1 ? "subsystem" : "subsystems"}, divided by ${profile.by}.${most}`;
  },

  draw(container, data, context) {
    const { profile } = data;
    const { state, selection } = context;
    const all = [
      ...profile.subsystems.map(({ name, dvluc }, index) => ({ index, name, dvluc })),
      { index: null, name: "whole program", dvluc: profile.dvluc },
    ];
    const figures = all.map(({ dvluc }) => figures_of(dvluc));
    const scales = Object.fromEntries(mallard.dimensions.map(({ letter }) => [letter, scale_of(letter, figures)]));
    const body = element("tbody");
    const raw = element("div", { class: "raw", role: "status" });
    const more = element("button", { type: "button", click: () => show_rows((state.all = true)) }, `Show all ${profile.subsystems.length}`);

    function name_cell({ index, name }) {
      if (index === null) return element("th", { scope: "row" }, element("strong", {}, name));
      const chosen = selection.get("subsystem") === index;
      const choose = () => selection.set("subsystem", chosen ? null : index);
      const text = mallard.subsystem_name(profile, index);
      const button = element("button", { type: "button", class: "named", "aria-pressed": String(chosen), title: name, click: choose }, mallard.swatch(context.subsystem_colour(index)), text);
      return element("th", { scope: "row" }, button);
    }

    function row(one, at) {
      const sentences = sentences_of(one.dvluc);
      const cells = mallard.dimensions.map(({ letter }) => bar(figures[at][letter], scales[letter], `${letter} ${sentences[letter]}`));
      const made = element("tr", {}, name_cell(one), ...cells);
      made.classList.toggle("chosen", one.index !== null && selection.get("subsystem") === one.index);
      return made;
    }

    function show_raw() {
      const one = all.find(({ index }) => index === selection.get("subsystem"));
      const sentences = sentences_of(one.dvluc);
      const lines = mallard.dimensions.map(({ letter, name }) => [element("dt", {}, `${letter} ${name}`), element("dd", {}, sentences[letter])]);
      raw.replaceChildren(element("strong", {}, one.name), element("dl", {}, ...lines.flat()));
    }

    function show_rows() {
      const focused = container.contains(document.activeElement) ? [...body.querySelectorAll("button")].indexOf(document.activeElement) : -1;
      const hidden = !state.all && profile.subsystems.length > first_rows;
      const shown = (_, at) => !hidden || at < first_rows || at === all.length - 1 || at === selection.get("subsystem");
      more.hidden = !hidden;
      body.replaceChildren(...all.map((one, at) => (shown(one, at) ? row(one, at) : "")));
      if (focused >= 0) body.querySelectorAll("button")[focused]?.focus();
      show_raw();
    }

    const head = element("tr", {}, element("th", { scope: "col" }, "Subsystem"), ...mallard.dimensions.map((dimension) => heading(dimension, scales[dimension.letter])));
    container.append(element("div", { class: "scroll" }, element("table", { class: "dvluc" }, element("thead", {}, head), body)), more, raw);
    selection.on("subsystem", show_rows);
    show_rows();
  },
};
