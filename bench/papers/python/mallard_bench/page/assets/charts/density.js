// density: benchmark I, a heat map a structure, and all structures small above it.

const { element } = mallard;

const { warm, cold, faults, held } = mallard.measures.all;
const power = (exponent) => mallard.power(2, exponent);
const number = (structure) => Number(structure.slice(2));
const cell_size = [7, 9];

// A structure as small as can be: sizes downwards, strategies to the right.
function paint(canvas, documents, columns, view, scale, theme) {
  const [width, height] = cell_size;
  canvas.width = columns.length * width;
  canvas.height = documents.length * height;
  const context = canvas.getContext("2d");
  documents.forEach((document, row) => {
    columns.forEach(({ key }, column) => {
      const value = view.shown_of(document, key);
      context.fillStyle = value === undefined ? theme.panel : scale.of(value).background;
      context.fillRect(column * width, row * height, width - 0.5, height - 0.5);
      if (value !== undefined || view.end(view.row_of(document, key)).end === "absent") return;
      context.strokeStyle = theme.muted;
      context.beginPath();
      context.moveTo(column * width + 1, (row + 1) * height - 2);
      context.lineTo((column + 1) * width - 2, row * height + 1);
      context.stroke();
    });
  });
}

// Who takes least of all at most sizes.
function best(documents, columns, view) {
  const wins = new Map();
  for (const document of documents) {
    const known = columns.map(({ key }) => [key, view.value_of(document, key)]).filter(([, value]) => value !== undefined);
    if (known.length === 0) continue;
    const [[key]] = known.sort(([, one], [, other]) => one - other);
    wins.set(key, (wins.get(key) ?? 0) + 1);
  }
  const [first] = [...wins].sort(([, one], [, other]) => other - one);
  return first ? `least: ${first[0]}, in ${first[1]} of ${documents.length}` : "nothing measured";
}

function overview(data, theme) {
  return (place, { run, view, columns, documents: chosen, choose }) => {
    const structures = [...new Set(run.documents.map(({ group }) => group.structure))].sort((a, b) => number(a) - number(b));
    const buttons = structures.map((structure) => {
      const documents = run.documents.filter(({ group }) => group.structure === structure);
      const values = documents.flatMap((document) => columns.map(({ key }) => view.shown_of(document, key))).filter((value) => value !== undefined);
      const scale = view.as_ratio ? mallard.scale.around_one(theme) : mallard.scale.between(theme, values, view.write);
      const canvas = element("canvas", { "aria-hidden": "true" });
      paint(canvas, documents, columns, view, scale, theme);
      const name = element("strong", {}, structure);
      return element(
        "button",
        { type: "button", "aria-pressed": String(chosen.some(({ group }) => group.structure === structure)), "data-keep": structure, click: () => choose(structure) },
        element("span", {}, name, ` ${data.titles[structure] ?? ""}`),
        canvas,
        element("small", {}, best(documents, columns, view)),
      );
    });
    place.append(element("div", { class: "overview", role: "group", "aria-label": `All structures: ${view.name}. One is shown below.` }, ...buttons));
  };
}

mallard.charts.density = {
  title: "Benchmark I: density",
  help:
    "Each row is a size of the outer container, each column a strategy: the paper's AS1 to AS14, then all others, then AS1 measured a second " +
    "time. Absolute times are seconds for 2²⁷ leaves, as the paper prints them; a ratio is over AS1 of the same row. Blue is less than AS1, " +
    "orange more. Point at a cell, or go to it with Tab and the arrow keys, for its spread and rounds; below a ratio, which is made round by round, stands how far from it they lie. Small pictures have the same rows and columns; choose one to see its figures.",

  missing: (data) => (mallard.runs.of(data, "density").own.length > 0 ? "" : "Nothing was measured."),

  draw(container, data, context) {
    mallard.comparison(container, data, context, {
      benchmark: "density",
      corner: ["size"],
      heads: ({ size }) => [power(size)],
      measures: { warm: mallard.measures.in_seconds(warm), cold: mallard.measures.in_seconds(cold), faults, held },
      percent: false,
      part: {
        label: "Structure",
        options: (documents) => [...new Set(documents.map(({ group }) => group.structure))].sort((a, b) => number(a) - number(b)).map((name) => [name, `${name} ${data.titles[name] ?? ""}`]),
        of: ({ structure }) => structure,
      },
      above: overview(data, context.theme),
    });
  },
};
