// tails: how long calls take, for every strategy: a box for the middle half with the rare slow ones beside it, and
// the share of calls that take no longer than a time, spread out towards the last one.

const { calls, element, format } = mallard;

const names = { alloc: "allocation", free: "free", realloc: "reallocation", calloc: "calloc" };
const orders = [["p50", "median"], ["p99", "99 %"], ["p999", "99.9 %"], ["max", "slowest"]];
const spread = [["min", "fastest"], ["p25", "25 %"], ...orders.slice(0, 1), ["p75", "75 %"], ...orders.slice(1, 3), ["p9999", "99.99 %"], ["max", "slowest"]];
const steps_per_doubling = 4; // of `tail`
const shares = [0, 50, 75, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999];

// What is drawn of a kind of calls: the lowest time of each event, all as they came, or the first pass.
function figures_of(row, call, which) {
  const all = row[`${call}_ns`];
  const figures = which === "raw" ? all : all?.[which];
  return figures?.tail?.length > 0 ? { ...figures, count: all.count } : null;
}

function timed_rows(replay) {
  const { measured, floor } = mallard.replay_rows(replay);
  return [...measured, ...(floor ? [floor] : [])].filter((row) => calls.some((call) => figures_of(row, call, "minimum")));
}

const calls_of = (rows) => calls.filter((call) => rows.some((row) => figures_of(row, call, "minimum")));

// Ordered by a figure, and by the others where it is the same: times are multiples of the clock's step.
function ordered(rows, call, which, order) {
  const keys = [order, "p999", "p99", "max", "p90", "p50"];
  const figure = (row, key) => figures_of(row, call, which)?.[key] ?? Infinity;
  const compare = (a, b) => keys.reduce((found, key) => found || figure(a, key) - figure(b, key) || 0, 0);
  return [...rows].sort((a, b) => compare(a, b) || a.ns_per_event - b.ns_per_event);
}

function box_text(row, call, figures, clock) {
  const lines = spread.map(([key, text]) => `${text} ${clock.write(figures[key])}`);
  return [`<b>${row.label}</b>, ${format.count(figures.count)} × ${call}`, ...lines].join("<br>");
}

// A box for each strategy from quartile to quartile, whiskers from the least to the 99th percentile.
function box_traces(rows, call, which, axis, clock, styles, is_first) {
  const known = rows.map((row) => ({ row, figures: figures_of(row, call, which) })).filter(({ figures }) => figures);
  const y = known.map(({ row }) => row.label);
  const at = (key) => known.map(({ figures }) => clock.place(figures[key]));
  const boxes = known.map(({ row, figures }) => {
    const { color } = styles.of(row.label);
    const place = (key) => [clock.place(figures[key])];
    return {
      type: "box",
      orientation: "h",
      name: row.label,
      y: [row.label],
      q1: place("p25"),
      median: place("p50"),
      q3: place("p75"),
      lowerfence: place("min"),
      upperfence: place("p99"),
      xaxis: axis,
      line: { color, width: 1.5 },
      fillcolor: mallard.faded(color, 0.25),
      hoverinfo: "skip",
      showlegend: false,
    };
  });
  const hovertext = known.map(({ row, figures }) => box_text(row, call, figures, clock));
  const marks = (key, name, marker) => ({
    type: "scatter",
    mode: "markers",
    name,
    legendgroup: key,
    showlegend: is_first && name !== "",
    x: at(key),
    y,
    xaxis: axis,
    marker: { ...marker, color: known.map(({ row }) => styles.of(row.label).color) },
    hovertext,
    hovertemplate: "%{hovertext}<extra></extra>",
  });
  return [
    ...boxes,
    marks("p50", "", { size: 14, opacity: 0 }),
    marks("p99", "", { size: 14, opacity: 0 }),
    marks("p999", "99.9 %", { symbol: "line-ns-open", size: 11, line: { width: 2 } }),
    marks("max", "slowest", { symbol: "x-thin-open", size: 7, line: { width: 1.5 } }),
  ];
}

function time_axis(call, most, clock) {
  const title = { text: `time of ${call === "alloc" ? "an" : "a"} ${names[call]}` };
  return { title, fixedrange: true, ...mallard.log_times(clock, most) };
}

function box_layout(rows, pair, most, clock) {
  const two = pair.length > 1;
  return {
    height: 90 + 24 * Math.max(3, rows.length),
    hovermode: "closest",
    boxgap: 0.35,
    xaxis: { ...time_axis(pair[0], most, clock), domain: [0, two ? 0.485 : 1] },
    ...(two ? { xaxis2: { ...time_axis(pair[1], most, clock), domain: [0.515, 1] } } : {}),
    yaxis: {
      fixedrange: true,
      type: "category",
      categoryorder: "array",
      categoryarray: rows.map(({ label }) => label).reverse(),
      range: [-0.6, rows.length - 0.4],
    },
    legend: { traceorder: "normal" },
  };
}

const doublings_of = (share) => -Math.log2(1 - share / 100);

// The share of a step of `tail`, with as many digits as tell it from 1.
function share_text(step, steps) {
  if (step === 0) return "the fastest";
  if (step === steps - 1) return "all";
  const rest = 2 ** (-step / steps_per_doubling);
  return `${(100 * (1 - rest)).toFixed(Math.max(1, Math.ceil(-Math.log10(rest)) - 1))} %`;
}

function curve_traces(rows, chosen, call, which, clock, styles) {
  return rows
    .filter(({ label }) => chosen.has(label))
    .map((row) => ({ row, figures: figures_of(row, call, which) }))
    .filter(({ figures }) => figures)
    .map(({ row, figures }) => ({
      type: "scatter",
      mode: "lines",
      name: row.label,
      x: figures.tail.map((_, step) => step / steps_per_doubling),
      y: figures.tail.map(clock.place),
      line: styles.line(row.label),
      hovertext: figures.tail.map((ns, step) => `<b>${row.label}</b><br>${share_text(step, figures.tail.length)}: ${clock.write(ns)}`),
      hovertemplate: "%{hovertext}<extra></extra>",
    }));
}

function curve_layout(traces, call, most, clock) {
  const longest = Math.max(1, ...traces.map(({ x }) => x.at(-1)));
  const ticks = shares.filter((share) => share === 0 || doublings_of(share) <= longest);
  return {
    height: 380,
    hovermode: "closest",
    showlegend: false,
    xaxis: {
      title: { text: `share of ${names[call]}s that take no longer` },
      range: [0, longest * 1.01],
      tickvals: ticks.map(doublings_of),
      ticktext: ticks.map((share) => `${share} %`),
      fixedrange: true,
      zeroline: false,
    },
    yaxis: time_axis(call, most, clock),
  };
}

mallard.charts.tails = {
  title: "Times of calls",
  help:
    "A box holds the middle half of all calls, its line is the median; the whiskers reach from the fastest call to " +
    "the 99th percentile. Beside them stand the 99.9th percentile and the slowest call. Below, a line passes through " +
    "the time that a share of the calls does not exceed; each step to the right leaves out fewer: half, a tenth, a " +
    "hundredth of them. A line that stays low to the end has no bad surprises. The lowest times are those of the " +
    "strategy itself; all as they came have the system's interruptions in them. Times shorter than a step of the " +
    "clock stand at the end of the axis.",

  missing(data) {
    if (data.replay && timed_rows(data.replay).length > 0) return "";
    return mallard.replay_lacks(data, "Calls were not timed one by one.", "--latency --curve");
  },

  summary({ replay }) {
    const rows = timed_rows(replay);
    const clock = mallard.clock_of(replay);
    const [call] = calls_of(rows);
    const first = mallard.usual_strategies(replay, (row) => figures_of(row, call, "minimum")?.p999 ?? null).slice(0, 3);
    const said = first.map((label) => {
      const { p999, max } = figures_of(rows.find((row) => row.label === label), call, "minimum");
      return `${clock.write(p999)} with ${label} (the slowest ${clock.write(max)})`;
    });
    return first.length > 0 ? `One ${names[call]} in a thousand takes longer than ${said.join(", ")}: by their lowest times.` : "";
  },

  async draw(container, data, context) {
    const { state, theme } = context;
    const { replay } = data;
    const rows = timed_rows(replay);
    const clock = mallard.clock_of(replay);
    const known = calls_of(rows);
    const styles = mallard.strategy_styles(replay, theme);
    state.call ??= known[0];
    state.which ??= "minimum";
    state.order ??= "p999";
    const usual = mallard.usual_strategies(replay, (row) => figures_of(row, known[0], "minimum")?.p999 ?? null);
    state.chosen ??= new Set(usual);

    const kept = (name) => (value) => {
      state[name] = value;
      return show();
    };
    const passes = replay.latency?.passes;
    const kinds = [["minimum", passes ? `Lowest of ${passes} passes` : "Lowest"], ["raw", "All as they came"], ["cold", "First pass"]];
    const which = mallard.choice("Times", kinds, state.which, kept("which"));
    const call = mallard.choice("Calls", known.map((name) => [name, name]), state.call, kept("call"));
    const order = mallard.choice("Ordered by", orders, state.order, kept("order"));
    const described = (text) => ({ role: "img", "aria-label": `${this.title}, ${text}. ${this.summary(data)}` });
    const boxes = element("div", described("boxes"));
    const lines = element("div", described("percentiles"));
    const toggles = element("div");
    container.append(element("div", { class: "toolbar" }, which, call, "Ordered by", order), boxes, toggles, lines);

    const longest = (pair) => Math.max(...rows.flatMap((row) => pair.map((one) => figures_of(row, one, state.which)?.max ?? 0)));

    async function show_lines(sorted) {
      const traces = curve_traces(sorted, state.chosen, state.call, state.which, clock, styles);
      await context.plot(lines, traces, curve_layout(traces, state.call, longest([state.call]), clock), { modeBarButtons: [["toImage"]] });
    }

    async function show() {
      const sorted = ordered(rows, state.call, state.which, state.order);
      const of_pair = calls.indexOf(state.call) < 2 ? calls.slice(0, 2) : calls.slice(2);
      const pair = of_pair.filter((one) => known.includes(one));
      const boxed = pair.flatMap((one, at) => box_traces(sorted, one, state.which, at === 0 ? "x" : "x2", clock, styles, at === 0));
      await context.plot(boxes, boxed, box_layout(sorted, pair, longest(pair), clock), { modeBarButtons: [["toImage"]] });
      const labels = sorted.map(({ label }) => label);
      const changed = () => show_lines(sorted);
      toggles.replaceChildren(mallard.strategy_toggles({ labels, styles, chosen: state.chosen, usual, changed }));
      await show_lines(sorted);
    }
    await show();
  },
};
