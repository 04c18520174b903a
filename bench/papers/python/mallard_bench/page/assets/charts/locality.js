// locality: benchmark II, what access costs after memory was shuffled: surfaces as the paper's, tables below them.

const { element } = mallard;

// Tables of |S| by how accesses are divided, each figure a walk after the shuffle over the same walk before it.
//
//     documents of one |G| --> without (AS1) | with (a multipool a subsystem) | without / with
//     rows: |S|, the largest first           columns: rf = 1, 2, 4 ... as af * rf stays the same
const ok = (row) => row?.status === "ok" && row.ns_per_event > 0;

function walks(document, key) {
  const found = new Map();
  for (const row of document?.rows ?? []) {
    if (mallard.who.key(row) !== key || row.split === undefined) continue;
    if (!found.has(row.split)) found.set(row.split, {});
    found.get(row.split)[row.shuffled ? "after" : "before"] = row;
  }
  return found;
}

const sizes_down = (documents) => [...new Set(documents.map(({ group }) => group.subsystem))].sort((one, other) => other - one);

const grid_of = {
  // {sizes, splits, cells: [[{value, before, after}]]} of one strategy.
  splits(documents, key) {
    const sizes = sizes_down(documents);
    const by_size = sizes.map((size) => walks(documents.find(({ group }) => group.subsystem === size), key));
    const splits = [...new Set(by_size.flatMap((found) => [...found.keys()]))].sort((one, other) => one - other);
    const cells = by_size.map((found) =>
      splits.map((split) => {
        const { before, after } = found.get(split) ?? {};
        return { before, after, value: after?.degradation };
      }),
    );
    return { sizes, splits, cells };
  },

  quotient(above, below) {
    const cells = above.cells.map((row, at) => row.map(({ value }, column) => {
      const other = below.cells[at]?.[column]?.value;
      return { value: value !== undefined && other ? value / other : undefined, above: value, below: other };
    }));
    return { ...above, cells };
  },

  // Table 15: each factor of shuffling over none.
  factors(documents, key) {
    const sizes = sizes_down(documents);
    const rows = sizes.map((size) => {
      const all = documents.find(({ group }) => group.subsystem === size)?.rows ?? [];
      return new Map(all.filter((row) => mallard.who.key(row) === key && row.factor !== undefined).map((row) => [row.factor, row]));
    });
    const splits = [...new Set(rows.flatMap((found) => [...found.keys()]))].sort((one, other) => one - other);
    const cells = rows.map((found) => splits.map((factor) => {
      const [before, after] = [found.get(0), found.get(factor)];
      return { before, after, value: factor === 0 && ok(before) ? 1 : after?.degradation };
    }));
    return { sizes, splits, cells };
  },
};

const bases = { splits: 2, factors: 10 };
const global_of = ({ table, global }) => `${table} ${global}`;
const global_text = (value) => {
  const [table, global] = value.split(" ");
  return `|G| = ${mallard.power(bases[table], global)}${table === "factors" ? ", by factor of shuffling" : ""}`;
};
const kinds = ([...documents]) => [...new Set(documents.filter(({ group }) => bases[group.table]).map(({ group }) => global_of(group)))];

function row_tip({ before, after, value, above, below }, where) {
  const times = (row, name) => (row ? [`${name}: ${mallard.measures.lines(row)[0]}`] : []);
  const lines = [where, ...times(before, "before"), ...times(after, "after")];
  if (above !== undefined && below !== undefined) lines.push(`${mallard.measures.three_digits(above)} without, ${mallard.measures.three_digits(below)} with`);
  if (value === undefined && !before && !after) lines.push("not measured");
  return lines.join("\n");
}

function table(name, grid, base, columns, texts, scale) {
  const ends = mallard.view({ measure: mallard.measures.all.warm, figures: "absolute" });
  const lines = grid.cells.map((row, at) => ({
    heads: [mallard.power(base, grid.sizes[at])],
    cells: row.map((cell, column) => {
      const tip = row_tip(cell, `|S| ${mallard.power(base, grid.sizes[at])}, ${columns} ${texts[column]}`);
      if (cell.value === undefined) return { ...ends.end(cell.after ?? cell.before), tip };
      return { text: mallard.measures.three_digits(cell.value), value: cell.value, plain: String(Number(cell.value.toPrecision(5))), tip };
    }),
  }));
  return mallard.heat_table({ caption: name, corner: ["|S|"], families: [{ name: columns, columns: texts.map((text) => ({ name: text })) }], lines, scale });
}

// The three of a run, or of the paper: without, with, and how many times less.
function grids(documents, kind, strategy) {
  const of_kind = documents.filter(({ group }) => global_of(group) === kind);
  if (of_kind.length === 0) return null;
  const of = kind.startsWith("factors") ? grid_of.factors : grid_of.splits;
  const [without, beside] = [of(of_kind, "AS1"), of(of_kind, strategy)];
  const measured = (grid) => grid.cells.some((row) => row.some(({ before, after }) => before || after));
  if (!measured(without) && !measured(beside)) return null;
  return { without, beside: measured(beside) ? beside : null, less: measured(beside) && measured(without) ? grid_of.quotient(without, beside) : null };
}

const largest = (sets) => Math.max(2, ...sets.flatMap((grid) => grid.cells.flatMap((row) => row.map(({ value }) => value ?? 0))));

const powers = (base, exponents) => exponents.map((exponent) => mallard.power(base, exponent));

// Every label where few are there, else every second, third ...
function thinned(values, texts) {
  const step = Math.ceil(values.length / 8);
  const kept = (_, at) => at % step === 0;
  return { tickvals: values.filter(kept), ticktext: texts.filter(kept) };
}

// Without the palest colour, which a surface would share with what is behind it.
const visible = ([, ...steps]) => steps.map(([, colour], at) => [at / (steps.length - 1), colour]);

// A grid as a surface over |S| and how accesses are divided, as the paper's figures are. The table of the same figures
// says it to those who cannot see it, and where there is no WebGL.
function surface(plot, grid, { theme, plot: draw }, { base, columns, column_texts, title, most }) {
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
}

mallard.charts.locality = {
  title: "Benchmark II: locality",
  help:
    "|G| links are divided among subsystems of |S| links. Each list is walked af times before the next is visited, and all of them rf times, so that af * rf stays the same. " +
    "A figure is the time of the accesses after links were shuffled between subsystems over that of the same before: 1 is no degradation. With a multipool in each subsystem, links stay in " +
    "its memory; the third is how many times less that degrades. Surfaces turn by dragging; the tables have the same figures.",

  missing: (data) => (mallard.runs.of(data, "locality").own.some(({ documents }) => kinds(documents).length > 0) ? "" : "Nothing was measured that has a table in the paper."),

  async draw(container, data, context) {
    const { state, theme } = context;
    const { own, paper } = mallard.runs.of(data, "locality");
    state.run ??= "0";
    state.whose ??= "both";
    const toolbar = element("div", { class: "toolbar" });
    const place = element("div");
    container.append(toolbar, place);

    function figures_of(name, set, kind, strategy, most, tops) {
      const base = bases[kind.split(" ")[0]];
      const is_factors = kind.startsWith("factors");
      const columns = is_factors ? "shuffles" : "rf";
      const named = [
        [set.without, "AS1, one heap for all", most, "after the shuffle over before"],
        [set.beside, `${strategy}, a heap for each subsystem`, most, "after the shuffle over before"],
        [set.less, `times less with ${strategy}`, tops, `AS1's figures over ${strategy}'s`],
      ].filter(([grid]) => grid !== null && grid.splits.length > 0);
      return named.map(([grid, title, top, what]) => {
        const texts = grid.splits.map((split) => (is_factors ? String(split) : String(2 ** split)));
        const plot = element("div", { role: "img", class: "surface", "aria-label": `${title}: a surface; the table below it has the figures.` });
        const scale = mallard.scale.between(theme, [1, top], mallard.measures.three_digits);
        const heading = `${name}: ${title}`;
        return { plot, draw: () => surface(plot, grid, context, { base, columns, column_texts: texts, title: heading, most: top }), figure: element("figure", {}, plot, table(`${heading}, |G| = ${mallard.power(base, kind.split(" ")[1])}: ${what}`, grid, base, columns, texts, scale)) };
      });
    }

    async function draw() {
      const run = own[Number(state.run)];
      const all = [...new Set([...kinds(run.documents), ...(state.whose === "ours" ? [] : kinds(paper.documents))])];
      const known = kinds(run.documents);
      if (!all.includes(state.kind)) state.kind = known.find((kind) => kind.startsWith("splits")) ?? known[0];
      const columns = mallard.who.columns(run.documents).filter(({ key }) => key !== "AS1" && key !== "A/A");
      if (!columns.some(({ key }) => key === state.strategy)) state.strategy = (columns.find(({ key }) => key === "AS7") ?? columns[0])?.key ?? "AS7";
      for (const plot of place.querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
      place.replaceChildren();
      const ours = state.whose === "paper" ? null : grids(run.documents, state.kind, state.strategy);
      const theirs = state.whose === "ours" ? null : grids(paper.documents, state.kind, "AS7");
      const sets = [ours, theirs].filter(Boolean);
      const most = largest(sets.flatMap(({ without, beside }) => [without, ...(beside ? [beside] : [])]));
      const tops = largest(sets.map(({ less }) => less).filter(Boolean));
      fill_toolbar(all, columns);
      const rows = [ours && figures_of("Here", ours, state.kind, state.strategy, most, tops), theirs && figures_of("The paper", theirs, state.kind, "AS7", most, tops)].filter(Boolean);
      const beside = rows.every((row) => row.length === 1) ? [rows.flat()] : rows;
      for (const row of beside) place.append(element("div", { class: "surfaces" }, ...row.map(({ figure }) => figure)));
      for (const { draw: draw_surface } of rows.flat()) await draw_surface();
      if (state.whose !== "ours" && !theirs) place.append(element("p", { class: "note" }, `The paper has no table of ${global_text(state.kind)}.`));
      if (state.whose !== "paper" && !ours) place.append(element("p", { class: "note" }, `There is nothing of ${global_text(state.kind)} in this run.`));
      if (sets.length > 0) place.append(mallard.scale_legend(mallard.scale.between(theme, [1, most], mallard.measures.three_digits), "after the shuffle over before"));
    }

    function fill_toolbar(all, columns) {
      const again = toolbar.contains(document.activeElement) ? [document.activeElement.closest("[data-tool]")?.dataset.tool, document.activeElement.value] : null;
      const tool = (name, made) => {
        made.dataset.tool = name;
        return made;
      };
      const set = (name) => (value) => {
        state[name] = value;
        return draw();
      };
      toolbar.replaceChildren(
        ...[
          own.length > 1 ? tool("run", mallard.list_choice("Run", own.map(({ name }, at) => [String(at), name]), state.run, set("run"))) : null,
          tool("kind", mallard.list_choice("System", all.map((kind) => [kind, global_text(kind)]), state.kind, set("kind"))),
          columns.length > 1 ? tool("strategy", mallard.list_choice("A heap for each", columns.map(({ key, strategy }) => [key, /^AS/.test(key) ? `${key} ${strategy}` : key]), state.strategy, set("strategy"))) : null,
          tool("whose", mallard.choice("Whose figures", [["ours", "Here"], ["paper", "The paper"], ["both", "Both"]], state.whose, set("whose"))),
        ].filter(Boolean),
      );
      if (!again) return;
      const found = toolbar.querySelector(`[data-tool="${again[0]}"]`);
      (found?.querySelector(`input[value="${again[1]}"]`) ?? found?.querySelector("select"))?.focus();
    }

    await draw();
  },
};
