// replay: what each strategy costs on this journal: times of all rounds, warm and cold, and what it holds.
// The table below has the figures.

const { element, format } = mallard;

function time_axis(title, domain, kind) {
  const log = kind === "log" ? { type: "log", dtick: "D2" } : { rangemode: "tozero" };
  return { title: { text: title }, domain, fixedrange: true, ...log };
}

function base_line(x, axis, theme) {
  return { type: "line", xref: axis, yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { color: theme.text, width: 1, dash: "dot" }, layer: "below" };
}

function replay_layout({ measured, glibc }, kind, theme) {
  const lines = [base_line(1, "x3", theme)];
  if (glibc) lines.push(base_line(glibc.ns_per_event, "x", theme));
  if (glibc?.cold_ns_per_event) lines.push(base_line(glibc.cold_ns_per_event, "x2", theme));
  return {
    height: 110 + 26 * Math.max(3, measured.length),
    hovermode: "closest",
    barmode: "stack",
    bargap: 0.4,
    boxgap: 0.4,
    xaxis: time_axis("ns an event, warm", [0, 0.34], kind),
    xaxis2: time_axis("ns an event, cold", [0.37, 0.65], kind),
    xaxis3: { title: { text: "most held / most live" }, domain: [0.68, 1], fixedrange: true, rangemode: "tozero" },
    yaxis: { fixedrange: true, type: "category", categoryorder: "array", categoryarray: measured.map(({ label }) => label).reverse(), automargin: true },
    shapes: lines,
    legend: { traceorder: "normal" },
  };
}

function fastest(rows, wanted) {
  return rows.measured.find((row) => !row.repeated && wanted(row)) ?? null;
}

// What a replay on the recorded threads was, in a sentence; nothing of others.
function on_threads({ schedule, deallocations, never_freed }) {
  if (!schedule) return "";
  const { threads, at_once, remote_frees, window } = schedule;
  const remote = remote_frees / Math.max(1, deallocations - never_freed);
  return (
    `Replayed on the recorded threads: ${format.count(threads)} with events, at most ${format.count(at_once)} of them alive at once, ` +
    `none more than ${format.count(window)} events ahead of the recorded order; ${format.share(remote)} of the frees are remote, by another thread than allocated. `
  );
}

function others_list({ others }) {
  if (others.length === 0) return "";
  const items = others.map(({ label, status, reason }) => element("li", {}, `${label}: ${status.replaceAll("_", " ")}${reason ? `, ${reason}` : ""}`));
  return element("div", {}, element("p", { class: "note" }, "Not measured, or not to the end:"), element("ul", { class: "note" }, ...items));
}

mallard.charts.replay = {
  title: "Strategies",
  help:
    "Each point is a round: the CPU time of an allocation or a free, net of the floor (none), the harness without an " +
    "allocator; a box holds the middle half of the rounds. Warm is a repeated pass, cold the first one in a fresh " +
    "process. On the recorded threads it is the CPU time of all of them; wall times are in the table. The dotted " +
    "lines are glibc's medians; glibc a/a is glibc measured a second time: what is no further from glibc than that " +
    "is noise. Bars are the fragmentation F = most held / most live; where the strategy can tell, " +
    "divided as at the moment of most live bytes: internal is granted - live, header carved - granted, external held - carved.",

  missing({ replay, replay_hint }) {
    if (!replay) return replay_hint || "The journal was not replayed.";
    return mallard.replay_rows(replay).measured.length === 0 ? "No strategy could be measured." : "";
  },

  summary({ replay }) {
    const rows = mallard.replay_rows(replay);
    const { glibc, floor } = rows;
    const said = (row) => {
      const times = glibc && row !== glibc ? ` (${format.number(row.ns_per_event / glibc.ns_per_event)} x glibc)` : "";
      const held = row.fragmentation === null ? "" : ` and F ${format.number(row.fragmentation)}`;
      return `${row.strategy} with ${format.number(row.ns_per_event)} ns an event${times}${held}`;
    };
    const [best, malloc] = [fastest(rows, () => true), fastest(rows, ({ binding }) => binding === "malloc")];
    const drop_in = malloc && malloc !== best ? ` The fastest malloc is ${said(malloc)}.` : "";
    const net = floor ? ` The floor, ${format.number(floor.ns_per_event)} ns, is subtracted from all.` : "";
    return best ? `${on_threads(replay.journal)}The fastest is ${said(best)}.${drop_in}${net}` : "";
  },

  async draw(container, data, context) {
    const { state, theme } = context;
    const rows = mallard.replay_rows(data.replay);
    const most = rows.measured.at(-1).ns_per_event;
    const least = rows.measured[0].ns_per_event;
    state.axis ??= mallard.axis_kind(least, most);
    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}` });
    container.append(element("div", { class: "toolbar" }, mallard.axis_choice("Axis of times", state, draw_plot)), plot, others_list(rows));

    async function draw_plot() {
      await context.plot(plot, mallard.replay_traces(rows, theme), replay_layout(rows, state.axis, theme), { modeBarButtons: [["toImage"]] });
    }
    await draw_plot();
  },
};
