// strategy_lines: the strategies that a chart of lines shows: which of them at first, how each one looks, and the
// checkboxes that are legend and choice in one.
//
//     [x] ── glibc (malloc)   [x] ── mimalloc (malloc)   [ ] ·· best_fit (typed)   ...   Usual   All   None
//
// A strategy looks the same in all charts of a journal. Those that most charts show at first have colours of
// their own; behind twelve, colours return with another dash.

const { element } = mallard;

const own_lines = 3;
const of_glibc = /^glibc(-notrim)?$/;
const foreign = /^(std|boost)\./;
const dashes = [["solid", "solid"], ["dot", "dotted"], ["dash", "dashed"]]; // of plotly, and of CSS

// By a figure of which less is better, null where it is not known: glibc, the best other malloc, and the best of
// mallard's heaps that hold hardly more than that malloc, each in its best binding.
mallard.usual_strategies = (replay, figure) => {
  const { measured, glibc } = mallard.replay_rows(replay);
  const ranked = measured.filter((row) => !row.repeated && figure(row) !== null).sort((a, b) => figure(a) - figure(b));
  const malloc = ranked.find(({ binding, strategy }) => binding === "malloc" && !of_glibc.test(strategy));
  const limit = mallard.most_memory * (malloc?.max_held ?? Infinity);
  const lean = ranked.filter((row) => row.binding !== "malloc" && !foreign.test(row.strategy) && (row.max_held ?? 0) <= limit);
  const own = lean.filter((row, at) => lean.findIndex(({ strategy }) => strategy === row.strategy) === at);
  const chosen = [glibc && figure(glibc) !== null ? glibc : null, malloc, ...own.slice(0, own_lines)];
  return [...new Set(chosen.filter(Boolean).map(({ label }) => label))];
};

// Of each label its colour and dash.
mallard.strategy_styles = (replay, theme) => {
  const { measured, floor } = mallard.replay_rows(replay);
  const usual = mallard.usual_strategies(replay, ({ ns_per_event }) => ns_per_event);
  const labels = [...usual, ...measured.filter(({ repeated }) => !repeated).map(({ label }) => label)];
  const styles = new Map();
  for (const label of new Set(labels)) {
    const at = styles.size;
    const color = label.startsWith("glibc (") ? theme.text : theme.series[at % theme.series.length];
    styles.set(label, { color, dash: Math.floor(at / theme.series.length) % dashes.length });
  }
  const other = { color: theme.muted, dash: 1 };
  return {
    of: (label) => styles.get(label) ?? (label === floor?.label ? { ...other, dash: 2 } : other),
    line(label, width = 2) {
      const { color, dash } = this.of(label);
      return { color, width, dash: dashes[dash][0] };
    },
  };
};

// `labels` in the order in which they stand; `chosen` is a Set that is kept up to date.
mallard.strategy_toggles = ({ labels, styles, chosen, usual, changed }) => {
  const boxes = labels.map((label) => {
    const { color, dash } = styles.of(label);
    const box = element("input", { type: "checkbox", value: label, checked: chosen.has(label) });
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(label);
      else chosen.delete(label);
      changed();
    });
    const sample = element("span", { class: "sample", "aria-hidden": "true" });
    sample.style.borderTop = `3px ${dashes[dash][1]} ${color}`;
    return { box, made: element("label", {}, box, sample, label) };
  });
  const choose = (wanted) => {
    chosen.clear();
    for (const label of wanted) chosen.add(label);
    for (const { box } of boxes) box.checked = chosen.has(box.value);
    changed();
  };
  const button = (text, title, wanted) => element("button", { type: "button", title, click: () => choose(wanted) }, text);
  return element(
    "div",
    { class: "lines", role: "group", "aria-label": "Strategies that are drawn" },
    ...boxes.map(({ made }) => made),
    button("Usual", "glibc, the best other malloc, and the best of mallard's heaps", usual),
    button("All", "All strategies", labels),
    button("None", "No strategy", []),
  );
};
