// dvluc_figures: D V L U C of a subsystem as figures for a row, and as sentences with what they come from.

const format = (name) => (value) => mallard.format[name](value);
const threads = (active) => `${count(active)} active ${active === 1 ? "thread" : "threads"}`;
const [bytes, count, ns, unit, number] = ["bytes", "count", "ns", "unit", "number"].map(format);

// Whose bars are drawn over the largest of all rows: what is always small would else be no bar at all.
const by_largest = new Set(["D", "C"]);

mallard.dvluc_figures = ({ density, variation, locality, utilization, contention }) => ({
  D: density.value,
  V: variation.value,
  L: locality.lines,
  U: utilization.value,
  C: contention.value,
});

mallard.dvluc_scale = (letter, rows) => {
  if (!by_largest.has(letter)) return 1;
  return Math.max(...rows.map((row) => row[letter] ?? 0)) || 1;
};

function diffusion({ pages_first, pages_last }) {
  if (pages_first === null || pages_last === null) return "";
  return `; pages from ${unit(pages_first)} in the first quarter to ${unit(pages_last)} in the last`;
}

mallard.dvluc_sentences = ({ density, variation, locality, utilization, contention }) => ({
  D:
    density.value === null
      ? `not known; ${count(density.operations)} operations, ${count(density.timed)} timed`
      : `${unit(density.value)}: ${ns(density.cost_ns)} for ${count(density.operations)} operations, ${count(density.timed)} of them timed`,
  V: `${unit(variation.value)}: ${number(variation.entropy)} of 6 bits, ${count(variation.classes)} size classes`,
  L: `not measured; compactness ${unit(locality.lines)} in lines, ${unit(locality.pages)} in pages${diffusion(locality)}`,
  U: `${unit(utilization.value)}: at most ${bytes(utilization.max_live_bytes)} live of ${bytes(utilization.bytes)} allocated`,
  C:
    contention.value === null
      ? `not known; ${threads(contention.active_threads)}`
      : `${unit(contention.value)}: ${number(contention.overlaps)} expected overlaps, ${threads(contention.active_threads)}`,
});
