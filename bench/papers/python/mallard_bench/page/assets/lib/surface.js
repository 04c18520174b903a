// surface: a grid as a surface over |S| and how accesses are divided, as the paper's figures are.
//
// The table of the same figures says it to those who cannot see it, and where there is no WebGL.

const powers = (base, exponents) => exponents.map((exponent) => mallard.power(base, exponent));

// Every label where few are there, else every second, third ...
function thinned(values, texts) {
  const step = Math.ceil(values.length / 8);
  const kept = (_, at) => at % step === 0;
  return { tickvals: values.filter(kept), ticktext: texts.filter(kept) };
}

// Without the palest colour, which a surface would share with what is behind it.
const visible = ([, ...steps]) => steps.map(([, colour], at) => [at / (steps.length - 1), colour]);

mallard.surface = (plot, grid, { theme, plot: draw }, { base, columns, column_texts, title, most }) => {
  const axis = { gridcolor: theme.grid, zerolinecolor: theme.grid, backgroundcolor: theme.panel, color: theme.text };
  const z = grid.cells.map((row) => row.map(({ value }) => value ?? null));
  const trace = {
    type: "surface",
    x: grid.splits,
    y: grid.sizes,
    z,
    cmin: 1,
    cmax: most,
    colorscale: visible(theme.scale),
    showscale: false,
    contours: { z: { show: true, usecolormap: true, width: 1 } },
    hovertemplate: "%{text}<extra></extra>",
    text: grid.cells.map((row, at) => row.map(({ value }, column) => `|S| ${mallard.power(base, grid.sizes[at])}, ${columns} ${column_texts[column]}: ${value === undefined ? "–" : mallard.measures.three_digits(value)}`)),
  };
  const scene = {
    xaxis: { ...axis, title: { text: columns }, ...thinned(grid.splits, column_texts) },
    yaxis: { ...axis, title: { text: "|S|" }, ...thinned(grid.sizes, powers(base, grid.sizes)) },
    zaxis: { ...axis, title: { text: "times" }, range: [0, most] },
    camera: { eye: { x: 1.4, y: -1.55, z: 0.8 }, center: { x: 0, y: 0, z: -0.12 } },
    aspectratio: { x: 1, y: 1.1, z: 0.8 },
  };
  return draw(plot, [trace], { height: 340, margin: { l: 0, r: 0, t: 4, b: 0 }, scene, title: { text: "" }, uirevision: title }, { modeBarButtons: [["resetCameraDefault3d", "toImage"]] });
};
