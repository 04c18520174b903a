// comparison: groups by strategies as heat maps, with switches for what is shown and what it is compared with.
//
//     run, part, measure, figures, beside      what a user chose, kept in context.state
//     spec = {
//       benchmark, corner,                     headings of what tells groups apart
//       heads(group) -> ["2^6"],               and how a group says it
//       measures: {warm: ...}, percent,
//       part: {label, options(documents), of(group)},      optional: shown one at a time
//       above(place, shown),                   optional: what stands above the table, drawn with it
//     }

const { element } = mallard;

// Ratios of our ratios to others' tell a change: 1 is none.
const besides = (runs, run) => [
  ["", "nothing"],
  ["paper", "the paper's"],
  ["paper change", "the change since the paper"],
  ...runs.flatMap((other, at) => (other === run ? [] : [[`${at}`, other.name], [`${at} change`, `the change since ${other.name}`]])),
];

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function families_of(columns) {
  const found = new Map();
  for (const one of columns) {
    if (!found.has(one.family)) found.set(one.family, []);
    found.get(one.family).push({ name: one.key, about: one.about, long: one.long });
  }
  return [...found].map(([name, members]) => ({ name: name === "A/A" ? "" : name, columns: members }));
}

// Why nothing of a group was tried; null if something was.
function skipped(document) {
  if (document.rows.length === 0 || document.rows.some(({ status }) => status !== "skipped")) return null;
  return `skipped: ${document.rows.find(({ reason }) => reason)?.reason ?? "not tried"}`;
}

// One of a few or many, as a list that opens; nothing where there is no choice.
mallard.list_choice = (label, options, chosen, changed) => {
  const list = element(
    "select",
    { change: () => changed(list.value) },
    ...options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
  );
  return element("label", { class: "list-choice" }, `${label} `, list);
};

mallard.comparison = (container, data, context, spec) => {
  const { state, theme } = context;
  const { own, paper } = mallard.runs.of(data, spec.benchmark);
  state.run ??= 0;
  state.beside ??= "";
  state.measure ??= Object.keys(spec.measures)[0];
  state.figures ??= "ratio";
  const identity = (group) => [spec.part ? spec.part.of(group) : null, ...spec.heads(group)];

  const toolbar = element("div", { class: "toolbar" });
  const place = element("div");
  container.append(toolbar, place);

  function tip_of(document, column, view, reference) {
    const row = view.row_of(document, column.key);
    const lines = [`${column.about} · ${spec.heads(document.group).join(" ")}`];
    if (row === undefined) return [...lines, "not measured"].join("\n");
    lines.push(...mallard.measures.lines(row));
    const ratio = view.ratio_of(document, column.key);
    const [of, unit] = spec.percent ? [100, " %"] : [1, ""];
    const spread = view.spread_of(document, column.key)?.map((bound) => mallard.measures.three_digits(of * bound));
    if (ratio !== undefined && column.key !== "AS1") lines.push(`${mallard.measures.three_digits(of * ratio)}${unit} of AS1, round by round${spread ? `, spread ${spread.join(" to ")}` : ""}`);
    const their = reference?.find(({ group }) => same(identity(group), identity(document.group)));
    const beside = their && view.ratio_of(their, column.key);
    if (beside !== undefined && column.key !== "AS1") lines.push(`in the paper ${view.write_ratio(beside)}${spec.percent ? " %" : ""}`);
    return lines.join("\n");
  }

  // In percentages the paper's tables have AS1 itself as it is.
  function cell(document, column, view, scale, reference) {
    const tip = tip_of(document, column, view, reference);
    const base = spec.percent && view.as_ratio && column.key === "AS1";
    const value = base ? view.value_of(document, column.key) : view.shown_of(document, column.key);
    if (value === undefined) {
      const { text, end, plain } = view.end(view.row_of(document, column.key));
      return { text, end, plain, tip };
    }
    const text = base ? spec.measures[state.measure].write(value) : view.write(value);
    return { text, value: base ? null : value, plain: String(Number(value.toPrecision(5))), around: view.around_of(document, column.key), tip, scale };
  }

  function table(name, documents, columns, view, scale, reference, above = 0) {
    const families = families_of(columns);
    if (spec.percent && view.as_ratio && families[0]?.columns[0].name === "AS1") families[0].columns[0].name = `AS1 ${spec.measures[state.measure].column ?? ""}`.trim();
    const lines = documents.map((document) => ({
      heads: spec.heads(document.group),
      instead: skipped(document),
      cells: columns.map((column) => cell(document, column, view, scale, reference)),
    }));
    return mallard.heat_table({ caption: name, corner: spec.corner, families, lines, scale, above });
  }

  // Documents whose figures are ratios of ours to others', each over its own AS1.
  function change(documents, others, columns, view, name) {
    const scale = mallard.scale.around_one(theme);
    const shared = columns.filter(({ key }) => key !== "AS1" && others.some((other) => view.row_of(other, key)));
    const lines = documents.map((document) => {
      const other = others.find(({ group }) => same(identity(group), identity(document.group)));
      const cells = shared.map(({ key, about }) => {
        const [ours, theirs] = [view.ratio_of(document, key), other && view.ratio_of(other, key)];
        const tip = [`${about} · ${spec.heads(document.group).join(" ")}`];
        if (ours === undefined || !theirs) return { ...view.end(ours === undefined ? view.row_of(document, key) : undefined), tip: [...tip, "nothing to compare"].join("\n") };
        tip.push(`of AS1: ${mallard.measures.three_digits(ours)} here, ${mallard.measures.three_digits(theirs)} there`);
        return { text: mallard.measures.three_digits(ours / theirs), value: ours / theirs, plain: String(Number((ours / theirs).toPrecision(5))), tip: tip.join("\n") };
      });
      return { heads: spec.heads(document.group), cells };
    });
    return mallard.heat_table({ caption: name, corner: spec.corner, families: families_of(shared), lines, scale });
  }

  function chosen_parts(documents) {
    return spec.part ? documents.filter(({ group }) => spec.part.of(group) === state.part) : documents;
  }

  function draw() {
    const run = own[state.run];
    const measure = spec.measures[state.measure];
    const view = mallard.view({ measure, figures: state.figures, percent: spec.percent });
    const [of_beside, is_change] = state.beside.split(" ");
    const beside = of_beside === "paper" ? paper : (own[Number(of_beside)] ?? null);
    const compared = state.beside === "" || !beside ? null : beside;
    const options = spec.part?.options(run.documents) ?? [];
    if (spec.part && !options.some(([value]) => value === state.part)) [[state.part]] = options;
    const documents = chosen_parts(run.documents);
    const others = compared ? chosen_parts(compared.documents) : [];
    const unknown = compared?.is_paper && !measure.in_paper;
    const columns = mallard.who.columns(run.documents);
    const both = is_change || unknown ? documents : [...documents, ...others];
    const all = both.flatMap((document) => columns.map(({ key }) => view.shown_of(document, key))).filter((value) => value !== undefined);
    const scale = view.as_ratio ? mallard.scale.around_one(theme) : mallard.scale.between(theme, all, view.write);

    const title = spec.part ? `${options.find(([value]) => value === state.part)[1]}: ` : "";
    const focused = place.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
    place.replaceChildren();
    spec.above?.(place, {
      run,
      view,
      columns,
      documents,
      scale,
      choose(part) {
        state.part = part;
        draw_all();
      },
    });
    place.append(table(`${title}${view.name}`, documents, columns, view, scale, paper.documents), mallard.scale_legend(scale, view.as_ratio ? "times AS1" : measure.unit));
    if (unknown) place.append(element("p", { class: "note" }, "The paper has no such figures: its times are of warm runs."));
    else if (compared && is_change) place.append(change(documents, others, columns, view, `${title}change since ${compared.name}: ${measure.text.toLowerCase()} over AS1 here, over that there`));
    else if (compared && others.length === 0) place.append(element("p", { class: "note" }, `There is nothing of this in ${compared.name}.`));
    else if (compared) {
      const theirs = mallard.who.columns(others);
      const known = columns.filter(({ key }) => theirs.some((one) => one.key === key));
      place.append(table(`${title}${compared.is_paper ? "in the paper" : compared.name}: ${view.name}`, others, known, view, scale, null, columns.length));
    }
    if (focused) place.querySelector(`[data-keep="${focused}"]`)?.focus();
  }

  function draw_all() {
    const set = (name) => (value) => {
      state[name] = name === "run" ? Number(value) : value;
      draw_all();
    };
    const measures = Object.entries(spec.measures).map(([value, { text }]) => [value, text]);
    const figures = [["ratio", spec.percent ? "Percent of AS1" : "Ratio to AS1"], ["absolute", "Absolute"]];
    const focused = toolbar.contains(document.activeElement) ? document.activeElement : null;
    const again = focused && { label: focused.closest("[aria-label], label")?.dataset.tool, value: focused.value };
    draw();
    const named = (name, made) => {
      made.dataset.tool = name;
      return made;
    };
    const run = own.length > 1 ? named("run", mallard.list_choice("Run", own.map(({ name }, at) => [String(at), name]), String(state.run), set("run"))) : null;
    const part = spec.part ? named("part", mallard.list_choice(spec.part.label, spec.part.options(own[state.run].documents), state.part, set("part"))) : null;
    const what = measures.length > 1 ? named("measure", mallard.choice("What is measured", measures, state.measure, set("measure"))) : null;
    const how = named("figures", mallard.choice("Figures", figures, state.figures, set("figures")));
    const beside = named("beside", mallard.list_choice("Beside it", besides(own, own[state.run]), state.beside, set("beside")));
    toolbar.replaceChildren(...[run, part, what, how, beside].filter(Boolean));
    if (!again) return;
    const tool = toolbar.querySelector(`[data-tool="${again.label}"]`);
    (tool?.querySelector(`input[value="${again.value}"]`) ?? tool?.querySelector("select"))?.focus();
  }

  draw_all();
};
