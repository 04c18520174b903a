// measures: what of a row is shown, how it is written, and whether the paper has it.
//
// view: one measure of documents as figures, as they are or beside those of AS1.
//
//     documents + {measure, figures, percent} --> figure(document, key) -> {row, value, text, end}

const { format } = mallard;

// A power as the paper writes it: 2¹⁶. `power_of` reads it back for copies as plain text: 2^16.
const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";

mallard.power = (base, exponent) => `${base}${[...String(exponent)].map((digit) => raised[digit]).join("")}`;
mallard.power_of = (text) => text.replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (digits) => `^${[...digits].map((digit) => raised.indexOf(digit)).join("")}`);

// As the paper's tables have it: 0.97, 9.75, 12.9, 103.
const three_digits = (value) => (value >= 99.95 ? value.toFixed(0) : value.toFixed(value >= 9.995 ? 1 : 2));

// In at most four characters, for cells.
function tight(value, step, units) {
  let unit = 0;
  while (unit + 1 < units.length && value >= 999.5) {
    value /= step;
    unit += 1;
  }
  return `${value >= 9.95 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1)}${units[unit]}`;
}

const seconds = (ns) => three_digits(ns * (2 ** 27 / 1e9));

// A cell of three digits for times of any size, in the unit of all of a table.
const nanoseconds = (ns) => (ns >= 9995 ? `${tight(ns / 1000, 1000, ["k", "M", "G"])}` : three_digits(ns));

const shown = (row) => (row.status === "ok" ? row : {});

mallard.measures = {
  three_digits,
  all: {
    warm: { text: "Warm", of: (row) => shown(row).ns_per_event, write: nanoseconds, whole: "ns an event, warm", ratio: "ratio", in_paper: true, unit: "ns an event" },
    wall: { text: "Wall time", of: (row) => shown(row).wall_ns_per_event, write: nanoseconds, whole: "ns an iteration of a thread, wall time", ratio: "wall_ratio", in_paper: true, unit: "ns an iteration, wall" },
    cold: { text: "Cold", of: (row) => shown(row).cold_ns_per_event, write: nanoseconds, whole: "ns an event, cold", in_paper: false, unit: "ns an event, cold" },
    faults: { text: "Page faults", of: (row) => shown(row).page_faults, write: (value) => tight(value, 1000, ["", "k", "M", "G"]), whole: "page faults", unit: "page faults", in_paper: false },
    held: { text: "Held", of: (row) => shown(row).max_held, write: (value) => tight(value, 1024, ["B", "K", "M", "G", "T"]), whole: "bytes held at most", unit: "bytes held", in_paper: false },
  },
  // Benchmark I as the paper has it: seconds for 2²⁷ leaves.
  in_seconds: (measure) => ({ ...measure, write: seconds, unit: "seconds", whole: `seconds for 2²⁷ leaves, ${measure.text.toLowerCase()}` }),

  // Everything that is known of a row, a line each.
  lines(row) {
    if (row.status !== "ok") return [`${row.status.replaceAll("_", " ")}${row.reason ? `: ${row.reason}` : ""}`];
    const figure = (value) => Number(value.toPrecision(4)).toString();
    const listed = (values) => (values ? values.map(figure).join(" ") : "");
    return [
      row.wall_ns_per_event && `wall ${figure(row.wall_ns_per_event)} ns${row.wall_spread ? `, spread ${row.wall_spread.map(figure).join(" to ")}` : ""}`,
      row.ns_per_event && `warm ${figure(row.ns_per_event)} ns${row.spread ? `, spread ${row.spread.map(figure).join(" to ")}` : ""}`,
      row.rounds_ns && `${row.rounds_ns.length} rounds: ${listed(row.rounds_ns)}`,
      row.cold_ns_per_event && `cold ${figure(row.cold_ns_per_event)} ns`,
      row.cold_rounds_ns && `cold rounds: ${listed(row.cold_rounds_ns)}`,
      row.max_held !== undefined && `held at most ${format.bytes(row.max_held)}, ${format.count(row.page_faults)} page faults`,
      row.failed_locks !== undefined && `${format.share(row.failed_locks)} of lock attempts failed`,
    ].filter(Boolean);
  },
};

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
  // The ratio that was made round by round if there is one, else that of the values that are shown.
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
