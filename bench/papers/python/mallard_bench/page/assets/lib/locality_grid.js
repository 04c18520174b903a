// locality_grid: benchmark II as tables of |S| by how accesses are divided, each figure a walk after the shuffle
// over the same walk before it.
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

mallard.locality_grid = {
  // {sizes, splits, cells: [[{value, before, after}]]} of one strategy.
  of(documents, key) {
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
