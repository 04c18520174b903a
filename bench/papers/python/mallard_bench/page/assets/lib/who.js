// who: the runs of a benchmark and the paper beside them, and the strategies of documents as columns: in the paper's
// order, then all others, then A/A.
//
//     global | monotonic | multipool | mono + multi | other mallocs | other resources | A/A
//     AS1 AS2  AS3 ... AS6  ...

let labelled = {}; // labels by family, both in the paper's order

const how = (row) => {
  const access = { typed: "directly", pmr: "virtual", malloc: "as malloc" }[row.binding] ?? "";
  return [access, row.destruction === "winkout" ? "winked out" : "normal destruction"].filter(Boolean).join(", ");
};

function family(row) {
  if (row.repeated) return "A/A";
  if (row.label) return Object.keys(labelled).find((name) => labelled[name].includes(row.label));
  return row.binding === "malloc" ? "other mallocs" : "other resources";
}

// What tells a strategy from others, the same in every document.
const key = (row) => {
  if (row.repeated) return "A/A";
  if (row.label) return row.label;
  return `${row.strategy}${row.binding === "typed" ? " direct" : ""}${row.destruction === "winkout" ? " wink" : ""}`;
};

function column(row) {
  const name = key(row);
  const strategy = row.strategy ? `${row.strategy}, ${how(row)}` : "";
  const about = row.repeated ? "AS1 measured a second time" : [row.label, strategy].filter(Boolean).join(": ");
  return { key: name, family: family(row), about, strategy: row.strategy ?? "", long: name.length > 4 };
}

mallard.who = {
  key,
  start(families) {
    labelled = families;
  },
  // Every strategy that occurs, once.
  columns(documents) {
    const found = new Map();
    for (const { rows } of documents) {
      for (const row of rows) if (!found.has(key(row))) found.set(key(row), column(row));
    }
    const families = [...Object.keys(labelled), "other mallocs", "other resources", "A/A"];
    const labels = Object.values(labelled).flat();
    const place = ({ key: name }) => (labels.includes(name) ? labels.indexOf(name) : labels.length);
    const all = [...found.values()];
    return all.sort((a, b) => families.indexOf(a.family) - families.indexOf(b.family) || place(a) - place(b));
  },
};

// What a chart is of: the runs of its benchmark, and the paper as one more that has its own strategies only.
mallard.runs = {
  of(data, benchmark) {
    const own = data.runs.filter((run) => run.benchmark === benchmark && run.documents.length > 0);
    return { own, paper: { name: "the paper", documents: data.paper[benchmark], is_paper: true } };
  },
};
