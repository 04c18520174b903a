// measures: what of a row is shown, how it is written, and whether the paper has it.

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
