// format: figures as text, with their units, and the unit of an axis. A figure that is not known (null) is a dash.

const unknown = "–";
const sizes = { units: ["B", "KiB", "MiB", "GiB", "TiB"], step: 1024 };
const times = { units: ["ns", "µs", "ms", "s"], step: 1000 };
const counts = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

// Three significant digits, as 1.23, 12.3 or 123.
function short(value) {
  const size = Math.abs(value);
  if (size >= 99.95 || Number.isInteger(value)) return counts.format(value);
  return value.toFixed(size >= 9.995 ? 1 : 2);
}

function scaled(value, { units, step }) {
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= step * 0.9995) {
    value /= step;
    unit += 1;
  }
  return `${short(value)} ${units[unit]}`;
}

function known(write) {
  return (value) => (value === null || value === undefined ? unknown : write(value));
}

mallard.format = {
  unknown,
  count: known((value) => counts.format(value)),
  bytes: known((value) => scaled(value, sizes)),
  ns: known((value) => scaled(value, times)),
  events: known((value) => `${short(value)} events`),
  number: known(short),
  share: known((value) => {
    if (value === 0) return "0 %";
    return value < 0.0005 ? "< 0.1 %" : `${(100 * value).toFixed(1)} %`;
  }),
  unit: known((value) => (value !== 0 && value < 0.0005 ? "< 0.001" : value.toFixed(3))),
};

// The unit in which an axis reads well up to `most`: its name and size, and figures divided by it.
function unit_up_to(most, { units, step }) {
  const power = Math.max(0, units.findLastIndex((_, at) => most >= 2 * step ** at));
  const size = step ** power;
  return { name: units[power], size, of: (value) => value / size };
}

mallard.axis_unit = {
  bytes: (most) => unit_up_to(most, sizes),
  ns: (most) => unit_up_to(most, times),
};
