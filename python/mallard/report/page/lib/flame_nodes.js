// flame_nodes: what a node of a flame graph looks like and what is said of it.
//
// - What the graph can be wide by, and the figures of a node.
// - Which colour a node has, by module or by subsystem, and the legend of it. Cells of one colour differ a little by
//   their function's name, so that neighbours can be told apart.

const { element } = mallard;
const count = (value) => mallard.format.count(value);
const bytes = (value) => mallard.format.bytes(value);
const share = (value) => mallard.format.share(value);
const most_modules = 7; // that have a colour of their own
const shades = 5;

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

function shade_of(name) {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = (hash * 31 + name.charCodeAt(at)) >>> 0;
  return 0.15 + 0.4 * ((hash % shades) / shades);
}

// The subsystem of each node: that of the nearest root above it, or its module's; null is none.
mallard.subsystems_of_nodes = (tree, profile) => {
  const roots = new Map();
  for (const [index, { path }] of profile.subsystems.entries()) {
    const { node, left } = tree.follow(path);
    if (path.length > 0 && left === 0) roots.set(node, index);
  }
  const modules = new Map(profile.by === "module" ? profile.subsystems.map(({ name }, index) => [name, index]) : []);
  const found = [];
  for (let node = 0; node < tree.size; node += 1) {
    const above = node === 0 ? null : found[tree.parent[node]];
    found.push(roots.get(node) ?? modules.get(tree.module(node)) ?? above);
  }
  return found;
};

function module_ranks(tree) {
  const sums = new Map();
  const widths = Object.values(tree.total)[0];
  for (let node = 1; node < tree.size; node += 1) {
    const module = tree.module(node);
    sums.set(module, (sums.get(module) ?? 0) + widths[node]);
  }
  return [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
}

function by_module(tree, theme) {
  const ranked = module_ranks(tree).slice(0, most_modules);
  const colours = new Map(ranked.map((module, rank) => [module, theme.series[rank]]));
  const legend = ranked.map((module) => [module || "unknown module", colours.get(module)]);
  const base = (node) => (node === 0 ? theme.muted : colours.get(tree.module(node)) ?? theme.muted);
  return { base, legend: [...legend, ["other", theme.muted]] };
}

function by_subsystem(tree, profile, subsystem_of, context) {
  const { theme, subsystem_colour } = context;
  const occurring = [...new Set(subsystem_of)].filter((index) => index !== null).sort((a, b) => a - b);
  const legend = occurring.map((index) => [mallard.subsystem_name(profile, index), subsystem_colour(index)]);
  const base = (node) => (subsystem_of[node] === null ? theme.muted : subsystem_colour(subsystem_of[node]));
  return { base, legend: [...legend, ["the rest", theme.muted]] };
}

// {fill(node), legend: [name, colour] pairs}
mallard.flame_colours = (tree, profile, subsystem_of, context, mode) => {
  const chosen = mode === "module" ? by_module(tree, context.theme) : by_subsystem(tree, profile, subsystem_of, context);
  const fills = [];
  const fill = (node) => (fills[node] ??= mallard.colour_mix(chosen.base(node), context.theme.panel, shade_of(tree.name(node))));
  return { fill, legend: chosen.legend };
};
