// call_tree: the columns of CallTree as a tree that can be summed, laid out and searched.
//
//     total[node] = own[node] + total of its children        once a metric; parents come before children
//     layout: x of a child = x of its parent + totals of its larger siblings: largest first
//
// Laying out and searching take some milliseconds for 20,000 nodes.

function totals(parent, own) {
  const sums = Float64Array.from(own);
  for (let node = sums.length - 1; node > 0; node -= 1) sums[parent[node]] += sums[node];
  return sums;
}

function children_of(parent) {
  const children = parent.map(() => []);
  for (let node = 1; node < parent.length; node += 1) children[parent[node]].push(node);
  return children;
}

mallard.call_tree = (columns) => {
  const { parent, metrics } = columns;
  const children = children_of(parent);
  const total = Object.fromEntries(Object.entries(metrics).map(([name, own]) => [name, totals(parent, own)]));
  const name = (node) => columns.names[columns.name[node]];
  const module = (node) => columns.modules[columns.module[node]];

  // From the root to the node.
  function path(node) {
    const found = [node];
    while (found[0] !== 0) found.unshift(parent[found[0]]);
    return found;
  }

  // Rows of cells {node, from, to} in 0..1 of the width, with the focused node over the whole width.
  function layout(metric, focus) {
    const sums = total[metric];
    const above = path(focus);
    const rows = above.map((node) => [{ node, from: 0, to: 1 }]);
    if (sums[focus] === 0) return rows;
    for (let row = rows.at(-1); row.length > 0; row = rows.at(-1)) {
      const below = [];
      for (const { node, from } of row) {
        const sorted = children[node].filter((child) => sums[child] > 0).sort((a, b) => sums[b] - sums[a]);
        let at = from;
        for (const child of sorted) {
          const to = at + sums[child] / sums[focus];
          below.push({ node: child, from: at, to });
          at = to;
        }
      }
      rows.push(below);
    }
    rows.pop();
    return rows;
  }

  // Nodes whose function's name holds the text, whatever its case.
  function search(text) {
    const wanted = text.toLowerCase();
    const named = columns.names.map((candidate) => candidate.toLowerCase().includes(wanted));
    return columns.name.map((number) => named[number]);
  }

  // What the matches under a node hold together; one inside another counts once.
  function matched(matches, metric, focus) {
    const inside = new Uint8Array(parent.length);
    const counted = new Uint8Array(parent.length);
    inside[focus] = 1;
    let sum = 0;
    for (let node = focus; node < parent.length; node += 1) {
      if (node !== focus) {
        inside[node] = inside[parent[node]];
        counted[node] = counted[parent[node]];
      }
      if (!inside[node] || !matches[node] || counted[node]) continue;
      counted[node] = 1;
      sum += total[metric][node];
    }
    return sum;
  }

  // Goes down along frames, the outermost first: the node they lead to, and how many lead nowhere.
  function follow(frames) {
    let node = 0;
    for (const [at, frame] of frames.entries()) {
      const next = children[node].find((child) => name(child) === frame.function && module(child) === frame.module);
      if (next === undefined) return { node, left: frames.length - at };
      node = next;
    }
    return { node, left: 0 };
  }

  return {
    size: parent.length,
    parent,
    children,
    total,
    own: metrics,
    name,
    module,
    path,
    layout,
    search,
    matched,
    follow,
  };
};
