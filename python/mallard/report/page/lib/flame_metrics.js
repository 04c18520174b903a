// flame_metrics: what a flame graph can be wide by, and what is said of one of its nodes.

const { element } = mallard;
const count = (value) => mallard.format.count(value);
const bytes = (value) => mallard.format.bytes(value);
const share = (value) => mallard.format.share(value);

mallard.flame_metrics = {
  calls: { text: "Allocations", of: "of allocations", write: count },
  bytes: { text: "Bytes", of: "of allocated bytes", write: bytes },
  live_at_peak: { text: "Live at peak", of: "of bytes live at the peak", write: bytes },
  leaked: { text: "Alive at exit", of: "of bytes alive at exit", write: bytes },
  temporaries: { text: "Temporaries", of: "of temporaries", write: count },
};

function figures_of(tree, node, metric) {
  const { text, write } = mallard.flame_metrics[metric];
  const sums = tree.total[metric];
  const cells = [text, write(sums[node]), share(sums[node] / (sums[0] || 1)), write(tree.own[metric][node])];
  return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
}

function module_of(tree, node) {
  if (node === 0) return "all of it";
  return tree.module(node) || "unknown module";
}

// The content of a tooltip.
mallard.flame_details = (tree, node, subsystem) => {
  const heading = ["", "with callees", "share", "itself"].map((text) => element("th", {}, text));
  const known = Object.keys(mallard.flame_metrics).filter((metric) => metric in tree.total);
  return [
    element("strong", {}, tree.name(node)),
    element("div", { class: "note" }, module_of(tree, node), subsystem ? ` · part of ${subsystem}` : ""),
    element("table", {}, element("tr", {}, ...heading), ...known.map((metric) => figures_of(tree, node, metric))),
  ];
};

// The same in a line, for those who hear it.
mallard.flame_sentence = (tree, node, metric, focus) => {
  const { of, write } = mallard.flame_metrics[metric];
  const sums = tree.total[metric];
  const of_focus = focus === 0 ? "" : `, ${share(sums[node] / (sums[focus] || 1))} of what is zoomed to`;
  return `${tree.name(node)} (${module_of(tree, node)}): ${write(sums[node])}, ${share(sums[node] / (sums[0] || 1))} ${of}${of_focus}`;
};
