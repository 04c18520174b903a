// replay_rows: the rows of mallard-replay's JSON, sorted out for drawing, and their traces: box plots of the rounds,
// and bars of the footprint, a strategy a row.
//
//     measured   fastest first; `none` is the floor that all times are net of, and no strategy
//     others     skipped, out of memory or failed: what is said instead of a figure

const { format } = mallard;

const floor_name = "none";

// What is timed by itself, as `operations.call` numbers it.
mallard.calls = ["alloc", "free", "realloc", "calloc"];

// Back from steps to the values themselves (data.py).
function summed(steps) {
  let value = 0;
  return steps?.map((step) => (step === null ? null : (value += step)));
}

// What a page stores of a replay, put back in its place.
mallard.whole_replay = (data) => {
  for (const { operations, curve } of data.replay?.rows ?? []) {
    if (operations) operations.event = summed(operations.event);
    for (const name of ["event", "live", "granted", "held_min", "held_max"]) if (curve) curve[name] = summed(curve[name]);
  }
  return data;
};

mallard.replay_rows = (replay) => {
  const named = replay.rows.map((row) => ({
    ...row,
    label: `${row.strategy} (${row.binding})`,
    repeated: row.strategy.endsWith(" a/a"),
  }));
  const is_measured = (row) => row.ns_per_event !== null;
  const measured = named
    .filter((row) => is_measured(row) && row.strategy !== floor_name)
    .sort((a, b) => a.ns_per_event - b.ns_per_event);
  return {
    measured,
    floor: named.find((row) => row.strategy === floor_name && is_measured(row)) ?? null,
    glibc: measured.find((row) => row.strategy === "glibc") ?? null,
    others: named.filter((row) => row.status !== "ok" || (row.strategy !== floor_name && !is_measured(row))),
  };
};

// What is said where a replay has no figures of a kind: `options` of `mallard replay` would have added them.
mallard.replay_adds = ({ journal }, said, options) =>
  `${said} This adds it: mallard replay ${journal} ${options} -o replay.json && mallard report ${journal} --replay replay.json`;

// The same, where the report's own replay has such figures.
mallard.replay_lacks = (data, said, options) => (data.replay ? mallard.replay_adds(data, said, options) : data.replay_hint || "The journal was not replayed.");

// What a row held at most, in parts of the most live bytes: live itself is 1.
mallard.footprint_of = ({ max_held, max_live, internal, header, external }) => {
  if (max_held === null || !max_live) return null;
  const share = (value) => value / max_live;
  const whole = share(max_held);
  if (internal === null) return { whole, live: Math.min(1, whole), internal: 0, header: 0, external: 0, unknown: Math.max(0, whole - 1) };
  const parts = { live: 1, internal: share(internal), header: share(header), external: share(external) };
  const at_peak = parts.live + parts.internal + parts.header + parts.external;
  return { whole, ...parts, unknown: Math.max(0, whole - at_peak) };
};

const times = (row, glibc) => (glibc ? `, ${format.number(row / glibc)} x glibc` : "");

// Rounds as a box; without them, the median within its spread.
function time_trace(row, pass, axis, colour, glibc) {
  const [rounds, median] = pass === "warm" ? [row.rounds_ns, row.ns_per_event] : [row.cold_rounds_ns, row.cold_ns_per_event];
  if (median === null) return null;
  const text = `<b>${row.label}</b>, ${pass}<br>median ${format.number(median)} ns an event${times(median, glibc)}`;
  const shared = { y0: row.label, xaxis: axis, showlegend: false, name: row.label };
  if (rounds?.length > 0) {
    const range = `${format.number(Math.min(...rounds))} to ${format.number(Math.max(...rounds))} ns in ${rounds.length} rounds`;
    return {
      ...shared,
      type: "box",
      orientation: "h",
      x: rounds,
      y: rounds.map(() => row.label),
      boxpoints: "all",
      jitter: 0.6,
      pointpos: 0,
      marker: { color: colour, size: 4, opacity: 0.7 },
      line: { color: colour, width: 1.5 },
      fillcolor: "rgba(0,0,0,0)",
      hoveron: "points+boxes",
      hoverinfo: "text",
      text: rounds.map(() => `${text}<br>${range}`),
      hovertemplate: `${text}<br>${range}<extra></extra>`,
    };
  }
  const [low, high] = pass === "warm" && row.spread ? row.spread : [median, median];
  return {
    ...shared,
    type: "scatter",
    mode: "markers",
    x: [median],
    y: [row.label],
    marker: { color: colour, size: 9, symbol: "line-ns-open", line: { width: 2 } },
    error_x: { type: "data", symmetric: false, array: [high - median], arrayminus: [median - low], color: colour },
    hovertemplate: `${text}<br>spread ${format.number(low)} to ${format.number(high)} ns<extra></extra>`,
  };
}

const parts = [
  ["live", "live", (theme) => theme.scale[1][1]],
  ["internal", "internal", (theme) => theme.series[0]],
  ["header", "header", (theme) => theme.series[1]],
  ["external", "external", (theme) => theme.series[2]],
  ["unknown", "not divided", (theme) => theme.series[7]],
];

function footprint_text(row, footprint) {
  const known = parts.slice(0, 4).filter(([part]) => footprint[part] > 0 && row.internal !== null);
  const lines = known.map(([part]) => `${part} ${format.bytes(footprint[part] * row.max_live)}`);
  const after = row.held_after === null ? [] : [`${format.bytes(row.held_after)} after everything is freed`];
  return [`<b>${row.label}</b>`, `at most ${format.bytes(row.max_held)} held, F ${format.number(footprint.whole)}`, ...lines, ...after].join("<br>");
}

function footprint_traces(rows, theme) {
  const held = rows.map((row) => ({ row, footprint: mallard.footprint_of(row) })).filter(({ footprint }) => footprint);
  const y = held.map(({ row }) => row.label);
  const hovertext = held.map(({ row, footprint }) => footprint_text(row, footprint));
  return parts.map(([part, name, colour]) => ({
    type: "bar",
    orientation: "h",
    name,
    x: held.map(({ footprint }) => footprint[part]),
    y,
    xaxis: "x3",
    marker: { color: colour(theme), line: { width: 0 } },
    hovertext,
    hovertemplate: "%{hovertext}<extra></extra>",
    legendgroup: part,
  }));
}

mallard.replay_traces = ({ measured, glibc }, theme) => {
  const colour = (row) => {
    if (row.repeated) return theme.muted;
    return row.strategy === "glibc" ? theme.text : theme.series[{ typed: 0, pmr: 3, malloc: 1 }[row.binding] ?? 7];
  };
  const boxes = ["warm", "cold"].flatMap((pass, at) => {
    const base = pass === "warm" ? glibc?.ns_per_event : glibc?.cold_ns_per_event;
    return measured.map((row) => time_trace(row, pass, at === 0 ? "x" : "x2", colour(row), base));
  });
  return [...boxes.filter((trace) => trace !== null), ...footprint_traces(measured, theme)];
};
