// flame_colours: which colour a node of the call tree has, by module or by subsystem, and the legend of it.
//
// Cells of one colour differ a little by their function's name, so that neighbours can be told apart.

const most_modules = 7;
const shades = 5;

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
