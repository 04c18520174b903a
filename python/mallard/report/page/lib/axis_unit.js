// axis_unit: the unit in which an axis reads well up to a figure: {name, size}, and figures divided by it.

const bytes = [["B", 1], ["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3], ["TiB", 1024 ** 4]];
const times = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

function unit_up_to(units, most) {
  const [name, size] = units.findLast(([, least]) => most >= 2 * least) ?? units[0];
  return { name, size, of: (value) => value / size };
}

mallard.axis_unit = {
  bytes: (most) => unit_up_to(bytes, most),
  ns: (most) => unit_up_to(times, most),
};
