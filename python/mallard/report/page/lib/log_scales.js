// log_scales: logarithmic axes whose ticks have units, and colours that go by the logarithm.
//
// A time that is too short for the clock is drawn at the end of its axis, since 0 has no place on one. A count
// of 0 has no colour, so that a single object can still be told from none.
//
//     < 10 ns     .     100 ns     1 µs     10 µs
//        |        |        |         |        |
//     `least`  a decade of no text: there is no room beside the first

const { format } = mallard;

const least_ns = 1;
const steps = [1, 2, 4, 5, 10]; // between ticks of bytes, in doublings

// The clock of a replay: how short a time it can tell from none (0), and where such times are drawn.
mallard.clock_of = (replay) => {
  const quantum = Math.max(least_ns, Number((replay.latency?.quantum_ns ?? 0).toPrecision(2)));
  const least = Math.max(least_ns, quantum / 3);
  return {
    least,
    below: `< ${format.ns(quantum)}`,
    place: (ns) => Math.max(ns, least),
    write: (ns) => (ns !== null && ns < 0.9 * quantum ? `less than ${format.ns(quantum)}` : format.ns(ns)),
  };
};

// An axis of times up to `most` ns.
mallard.log_times = (clock, most) => {
  const [from, to] = [Math.log10(clock.least), Math.log10(Math.max(most, 100 * clock.least))];
  const decades = Array.from({ length: Math.floor(to) - Math.floor(from) }, (_, at) => 10 ** (Math.floor(from) + 1 + at));
  const near = (ns) => ns < 4 * clock.least;
  return {
    type: "log",
    range: [from - 0.12, to + 0.12],
    tickvals: [clock.least, ...decades],
    ticktext: [clock.below, ...decades.map((ns) => (near(ns) ? "" : format.ns(ns)))],
    zeroline: false,
  };
};

// Figures further apart than this are drawn on a logarithmic axis, unless a user wants it otherwise.
const far_apart = 12;

mallard.axis_kind = (least, most) => (least > 0 && most / least > far_apart ? "log" : "linear");

// The choice of an axis, kept in `state.axis`.
mallard.axis_choice = (label, state, changed) =>
  mallard.choice(label, [["linear", "Linear"], ["log", "Logarithmic"]], state.axis, (value) => {
    state.axis = value;
    return changed();
  });

// The powers of two between, a tick for each of a few of them.
mallard.byte_ticks = (least, most, wanted = 9) => {
  const [first, last] = [Math.ceil(Math.log2(Math.max(1, least))), Math.floor(Math.log2(Math.max(1, most)))];
  const step = steps.find((each) => (last - first) / each < wanted) ?? steps.at(-1);
  const powers = Array.from({ length: Math.max(0, last - first) + 1 }, (_, at) => first + at);
  return powers.filter((power) => power % step === 0).map((power) => 2 ** power);
};

// Traces of a heat map: counts by their logarithm, with a colour bar that shows the counts themselves.
mallard.log_colours = (rows, scale, write) => {
  const most = Math.max(1, ...rows.flat());
  const decades = Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, power) => power);
  const step = Math.ceil(decades.length / 6);
  const ticks = decades.filter((power) => power % step === 0);
  return {
    type: "heatmap",
    z: rows.map((row) => row.map((count) => (count > 0 ? Math.log10(count) : null))),
    zmin: -Math.log10(most) / 8,
    zmax: Math.max(1, Math.log10(most)),
    colorscale: scale,
    hoverongaps: false,
    hovertemplate: "%{hovertext}<extra></extra>",
    colorbar: {
      tickvals: ticks,
      ticktext: ticks.map((power) => write(10 ** power)),
      thickness: 12,
      outlinewidth: 0,
    },
  };
};
