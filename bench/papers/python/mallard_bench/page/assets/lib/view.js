// view: what is shown of documents, as figures: one measure, as it is or beside that of AS1.
//
//     documents + {measure, figures, percent} --> figure(document, key) -> {row, value, text, end}

const marks = { out_of_memory: "fail", skipped: "skip", failed: "broke" };
const words = { fail: "memory ran out", skip: "skipped", broke: "crashed or wrong" };
const indexed = new WeakMap();

// The row of a strategy in a document.
function row_of(document, key) {
  if (!indexed.has(document)) indexed.set(document, new Map(document.rows.map((row) => [mallard.who.key(row), row])));
  return indexed.get(document).get(key);
}

mallard.view = ({ measure, figures, percent }) => {
  const write_ratio = (value) => (percent ? (100 * value).toFixed(0) : mallard.measures.three_digits(value));
  const value_of = (document, key) => {
    const row = row_of(document, key);
    return row === undefined ? undefined : measure.of(row);
  };
  // As it was made round by round, where it was; of other measures that of what is shown.
  const ratio_of = (document, key) => {
    const told = row_of(document, key)?.[measure.ratio];
    if (told !== undefined) return told;
    const [value, base] = [value_of(document, key), value_of(document, "AS1")];
    if (value === undefined || base === undefined) return undefined;
    return base > 0 ? value / base : value === 0 ? 1 : undefined;
  };
  const as_ratio = figures === "ratio" && !measure.absolute;
  const spread_of = (document, key) => (key === "AS1" ? undefined : row_of(document, key)?.[`${measure.ratio}_spread`]);
  return {
    row_of,
    ratio_of,
    spread_of,
    // How far from a ratio its rounds lie, at most; in as many decimals as it has.
    around_of(document, key) {
      const [spread, ratio] = [spread_of(document, key), ratio_of(document, key)];
      if (!as_ratio || !spread || !row_of(document, key).rounds_ns) return undefined;
      const decimals = write_ratio(ratio).split(".")[1]?.length ?? 0;
      const step = 10 ** decimals;
      const farthest = (percent ? 100 : 1) * Math.max(ratio - spread[0], spread[1] - ratio);
      return `±${(Math.ceil(farthest * step - 1e-9) / step).toFixed(decimals)}`;
    },
    value_of,
    write_ratio,
    as_ratio,
    shown_of: as_ratio ? ratio_of : value_of,
    write: as_ratio ? write_ratio : measure.write,
    name: as_ratio ? `${measure.text.toLowerCase()}, ${percent ? "percent of" : "over that of"} AS1` : measure.whole,
    // What stands in a cell where there is no figure.
    end(row) {
      if (row === undefined) return { text: "·", end: "absent", plain: "", why: "not measured" };
      const mark = marks[row.status];
      if (mark) return { text: mark, end: mark, plain: row.status, why: words[mark] };
      return { text: "·", end: "absent", plain: "", why: `${measure.text.toLowerCase()}: not measured` };
    },
  };
};
