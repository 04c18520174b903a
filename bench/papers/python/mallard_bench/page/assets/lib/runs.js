// runs: those of a benchmark, and the paper as one more that has no contestants.

mallard.runs = {
  // What a chart is of: the run that was chosen, and what it is compared with.
  of(data, benchmark) {
    const own = data.runs.filter((run) => run.benchmark === benchmark && run.documents.length > 0);
    return { own, paper: { name: "the paper", documents: data.paper[benchmark], is_paper: true } };
  },
};

// One of a few or many, as a list that opens; nothing where there is no choice.
mallard.list_choice = (label, options, chosen, changed) => {
  const { element } = mallard;
  const list = element(
    "select",
    { change: () => changed(list.value) },
    ...options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
  );
  return element("label", { class: "list-choice" }, `${label} `, list);
};
