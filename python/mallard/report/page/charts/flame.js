// flame: the call tree as a flame graph that hangs from the program: a cell is as wide as what it and its
// callees allocate. Painted on a canvas (lib/flame_painter.js); every step has a key and a button.

const { element, format } = mallard;

const keys =
  "Arrow keys move from function to function, Enter zooms in, Backspace out, Escape shows all; slash finds a function.";

function moved(tree, rows, at, key) {
  const row = rows.findIndex((cells) => cells.some(({ node }) => node === at));
  const place = rows[row].findIndex(({ node }) => node === at);
  switch (key) {
    case "ArrowUp":
      return tree.parent[at];
    case "ArrowDown":
      return rows[row + 1]?.find(({ node }) => row + 1 < rows.length && tree.parent[node] === at)?.node ?? at;
    case "ArrowLeft":
      return rows[row][place - 1]?.node ?? at;
    default:
      return rows[row][place + 1]?.node ?? at;
  }
}

// The largest site at or below each node that has one; sites come largest first.
function largest_sites(tree, profile) {
  const found = new Map();
  for (const [index, { stack }] of profile.sites.entries()) {
    for (const node of tree.path(tree.follow(stack.toReversed()).node)) if (!found.has(node)) found.set(node, index);
  }
  return found;
}

function search_bar(found_text, searched, stepped) {
  const input = element("input", { type: "search", placeholder: "Find function (/)", "aria-label": "Find function" });
  input.addEventListener("input", () => searched(input.value.trim()));
  input.addEventListener("keydown", (event) => event.key === "Enter" && stepped(event.shiftKey ? -1 : 1));
  const step = (text, label, by) => element("button", { type: "button", title: label, "aria-label": label, click: () => stepped(by) }, text);
  const bar = element("span", { class: "flame-search", role: "search" }, input, step("↑", "Previous match", -1), step("↓", "Next match", 1), found_text);
  return { bar, input };
}

mallard.charts.flame = {
  title: "Call tree",
  help:
    "Each cell is a function, its callees hang below it, the largest first; its width is the share of the chosen " +
    "metric that it and its callees have. Temporaries are allocations that are freed before their thread allocates " +
    "anything else. Click a cell to zoom into it, and a cell above to zoom out. " + keys,

  missing: ({ call_tree }) => (call_tree.parent.length > 1 ? "" : "The journal has no call stacks, so there is no call tree."),

  summary({ call_tree, profile }) {
    const tree = mallard.call_tree(call_tree);
    const depth = tree.layout("calls", 0).length - 1;
    const [site] = profile.sites;
    const largest = site ? ` The largest site is in ${mallard.short_name(site.name)}: ${format.bytes(site.behaviour.bytes)}.` : "";
    return `${format.count(tree.total.calls[0])} allocations, at most ${format.count(depth)} calls deep.${largest}`;
  },

  draw(container, data, context) {
    const { profile } = data;
    const { state, theme, selection } = context;
    const tree = mallard.call_tree(data.call_tree);
    const subsystem_of = mallard.subsystems_of_nodes(tree, profile);
    const has_subsystems = subsystem_of.some((index) => index !== null);
    state.metric ??= "bytes" in tree.total ? "bytes" : Object.keys(tree.total)[0];
    state.colours ??= "module";
    state.focus ??= 0;
    state.search ??= "";
    const largest_site_of = largest_sites(tree, profile);
    let rows = [];
    let cursor = state.focus;
    let hovered = null;
    let matches = null;
    let matching = [];
    let above = new Set();
    let colours;

    const legend = element("p", { class: "legend" });
    const status = element("p", { class: "note flame-status", role: "status" });
    const found_text = element("span", { class: "flame-found", role: "status" });
    const tooltip = mallard.tooltip(container);
    const short = new Map();

    function style_of(node) {
      const found = matches?.[node] && !above.has(node);
      const dim = matches ? (found ? 0 : 0.72) : above.has(node) ? 0.55 : 0;
      const fill = dim ? mallard.colour_mix(colours.fill(node), theme.panel, dim) : colours.fill(node);
      const pointed_at = node === hovered || (node === cursor && document.activeElement === painter.box);
      const outline = pointed_at ? theme.text : found ? theme.warning : null;
      return { fill, outline };
    }

    function names_of(node) {
      const name = tree.name(node);
      if (!short.has(name)) short.set(name, mallard.short_name(name));
      return [name, short.get(name)];
    }

    const painter = mallard.flame_painter(`Flame graph. ${keys}`, style_of, names_of);

    function show_found() {
      found_text.textContent = "";
      if (!matches) return;
      const names = new Set(matching.map((node) => tree.name(node)));
      const share = tree.matched(matches, state.metric, state.focus) / (tree.total[state.metric][state.focus] || 1);
      const functions = `${format.count(names.size)} ${names.size === 1 ? "function" : "functions"}`;
      const places = `${format.count(matching.length)} ${matching.length === 1 ? "place" : "places"}`;
      const nowhere = matches.includes(true) ? "Only outside of what is shown" : "No function is named so";
      found_text.textContent = matching.length === 0 ? nowhere : `${functions} in ${places}, ${format.share(share)} of what is shown`;
    }

    function search(text) {
      state.search = text;
      matches = text ? tree.search(text) : null;
      const shown = rows.slice(above.size).flat();
      matching = matches ? shown.map(({ node }) => node).filter((node) => matches[node]) : [];
      show_found();
      painter.repaint();
    }

    function show() {
      const sums = tree.total[state.metric];
      above = new Set(tree.path(state.focus).slice(0, -1));
      rows = tree.layout(state.metric, state.focus);
      colours = mallard.flame_colours(tree, profile, subsystem_of, context, state.colours);
      legend.replaceChildren(...colours.legend.map(([name, colour]) => element("span", {}, mallard.swatch(colour), name)));
      painter.show(rows, state.focus);
      reset.disabled = out.disabled = state.focus === 0;
      to_site.disabled = !largest_site_of.has(state.focus);
      search(state.search);
      status.textContent =
        sums[0] === 0 ? `Nothing to show: the program has no ${mallard.flame_metrics[state.metric].text.toLowerCase()}.` : mallard.flame_sentence(tree, state.focus, state.metric, 0);
    }

    function zoom(node) {
      state.focus = node;
      cursor = node;
      tooltip.hide();
      show();
    }

    function details(node) {
      const index = subsystem_of[node];
      return mallard.flame_details(tree, node, index === null ? "" : profile.subsystems[index].name);
    }

    function point_at(node) {
      cursor = node;
      const place = painter.place_of(node);
      if (place) tooltip.show(place.x, place.y, ...details(node));
      status.textContent = mallard.flame_sentence(tree, node, state.metric, state.focus);
      painter.repaint();
    }

    function step(by) {
      if (matching.length === 0) return;
      const at = matching.indexOf(cursor);
      point_at(matching[at < 0 ? (by > 0 ? 0 : matching.length - 1) : (at + by + matching.length) % matching.length]);
    }

    function pressed(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^Arrow/.test(event.key)) point_at(moved(tree, rows, cursor, event.key));
      else if (event.key === "Enter") zoom(cursor);
      else if (event.key === "Backspace") zoom(tree.parent[state.focus]);
      else if (event.key === "Escape" || event.key === "Home") zoom(0);
      else if (event.key === "/") finder.input.focus();
      else return;
      event.preventDefault();
    }

    function hover(event) {
      hovered = painter.node_at(event.clientX, event.clientY);
      if (hovered === null) tooltip.hide();
      else tooltip.show(event.clientX, event.clientY, ...details(hovered));
      painter.repaint();
    }

    function leave() {
      hovered = null;
      tooltip.hide();
      painter.repaint();
    }

    function clicked(event) {
      const node = painter.node_at(event.clientX, event.clientY);
      if (node !== null) zoom(node);
    }

    for (const [name, listener] of Object.entries({ keydown: pressed, pointermove: hover, pointerleave: leave, click: clicked, blur: leave, focus: painter.repaint })) {
      painter.box.addEventListener(name, listener);
    }
    const metrics = Object.keys(mallard.flame_metrics).filter((metric) => metric in tree.total);
    const finder = search_bar(found_text, search, step);
    finder.input.value = state.search;
    const button = (text, act) => element("button", { type: "button", click: act }, text);
    const out = button("Zoom out", () => zoom(tree.parent[state.focus]));
    const reset = button("Show all", () => zoom(0));
    const to_site = button("Largest site here", () => selection.set("site", largest_site_of.get(state.focus)));
    const by_metric = mallard.choice("Width of a cell", metrics.map((metric) => [metric, mallard.flame_metrics[metric].text]), state.metric, (metric) => {
      state.metric = metric;
      show();
    });
    const by_colour = mallard.choice("Colour of a cell", [["module", "Modules"], ["subsystem", "Subsystems"]], state.colours, (mode) => {
      state.colours = mode;
      show();
    });
    container.append(
      element("div", { class: "toolbar" }, by_metric, has_subsystems ? by_colour : "", out, reset, to_site),
      element("div", { class: "toolbar" }, finder.bar),
      painter.box,
      status,
      legend,
    );
    selection.on("stack", (stack) => {
      zoom(tree.follow(stack.toReversed()).node);
      painter.box.scrollIntoView({ block: "center" });
      painter.box.focus();
    });
    selection.on("subsystem", (index) => zoom(index === null ? 0 : tree.follow(profile.subsystems[index].path).node));
    show();
  },
};
