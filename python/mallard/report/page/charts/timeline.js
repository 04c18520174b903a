// timeline: live and held bytes of the program over time, and how many allocations there were. A dragged
// range is zoomed and read out; what keys need stands below as buttons and fields.

const { element, format } = mallard;

const most_areas = 8;
const most_letters = 36; // of a name in the legend
const plot_height = 380;

function whole_span({ timeline }) {
  return { from_ns: 0, to_ns: timeline.bucket_ns * timeline.live_bytes.length };
}

// The subsystems with most live bytes one by one, and the others together.
function areas(profile, colour, other_colour) {
  const ranked = profile.subsystems
    .map((subsystem, index) => ({ index, y: subsystem.live_bytes }))
    .filter(({ y }) => y.length === profile.timeline.live_bytes.length && y.some((value) => value > 0))
    .sort((a, b) => Math.max(...b.y) - Math.max(...a.y));
  const shown = ranked
    .slice(0, most_areas)
    .map(({ index, y }) => ({ name: mallard.subsystem_name(profile, index, most_letters), y, colour: colour(index) }));
  const others = ranked.slice(most_areas);
  if (others.length === 0) return shown;
  const sums = others[0].y.map((_, bucket) => others.reduce((sum, { y }) => sum + y[bucket], 0));
  return [...shown, { name: `${others.length} others`, y: sums, colour: other_colour }];
}

function traces(profile, context, time, memory) {
  const { bucket_ns, live_bytes, held_bytes, allocations } = profile.timeline;
  const x = live_bytes.map((_, bucket) => time.of(bucket * bucket_ns));
  const over_time = (name, bytes, style) => ({
    name,
    x,
    y: bytes.map(memory.of),
    text: bytes.map(format.bytes),
    hovertemplate: "%{text}",
    mode: "lines",
    ...style,
  });
  const line = (color, width, dash) => ({ line: { shape: "hv", color, width, dash } });
  const { theme, state } = context;
  const lines = [over_time("held", held_bytes, line(theme.muted, 1.5, "dot"))];
  if (state.view === "subsystems") {
    for (const { name, y, colour } of areas(profile, context.subsystem_colour, theme.muted)) {
      lines.push(over_time(name, y, { stackgroup: "subsystems", fillcolor: colour, line: { shape: "hv", width: 0 } }));
    }
    lines.push(over_time("live", live_bytes, line(theme.text, 1.5)));
  } else {
    lines.push(over_time("live", live_bytes, line(theme.accent, 2)));
    const chosen = profile.subsystems[context.selection.get("subsystem")];
    if (chosen?.live_bytes.length === live_bytes.length) {
      lines.push(over_time(mallard.subsystem_name(profile, context.selection.get("subsystem"), most_letters), chosen.live_bytes, line(theme.warning, 1.5)));
    }
  }
  const per_second = allocations.map((count) => (1e9 * count) / bucket_ns);
  lines.push({
    name: "allocations",
    x,
    y: per_second,
    text: per_second.map(format.count),
    hovertemplate: "%{text} a second",
    mode: "lines",
    fill: "tozeroy",
    yaxis: "y2",
    ...line(theme.series[7], 1),
    showlegend: false,
  });
  return lines;
}

function ranges(profile, span, time, memory) {
  const figures = mallard.timeline_span(profile, span);
  const most = Math.max(figures.most_held, figures.most_live, 1);
  return {
    "xaxis.range": [time.of(span.from_ns), time.of(span.to_ns)],
    "yaxis.range": [0, memory.of(most) * 1.15],
  };
}

function layout(profile, context, span, time, memory) {
  const { peak_ns, peak_live_bytes } = profile.totals;
  const x = time.of(Math.min(peak_ns, whole_span(profile).to_ns));
  const early = peak_ns < whole_span(profile).to_ns / 2;
  const range = ranges(profile, span, time, memory);
  return {
    height: plot_height,
    dragmode: "zoom",
    hovermode: "x unified",
    legend: { traceorder: "normal" },
    xaxis: {
      title: { text: `time since the start (${time.name})` },
      range: range["xaxis.range"],
      anchor: "y2",
      spikecolor: context.theme.muted,
      spikethickness: 1,
      spikedash: "solid",
      unifiedhovertitle: { text: `%{x:.4~g} ${time.name}` },
    },
    yaxis: {
      title: { text: `memory (${memory.name})` },
      range: range["yaxis.range"],
      domain: [0.32, 1],
      fixedrange: true,
    },
    yaxis2: { title: { text: "allocs/s" }, domain: [0, 0.24], fixedrange: true, rangemode: "tozero", tickformat: "~s", nticks: 4 },
    shapes: [{ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: context.theme.muted, width: 1, dash: "dash" } }],
    annotations: [
      {
        x,
        y: memory.of(peak_live_bytes),
        text: `peak ${format.bytes(peak_live_bytes)}`,
        xanchor: early ? "left" : "right",
        ax: early ? 28 : -28,
        ay: -18,
        arrowcolor: context.theme.muted,
        bgcolor: context.theme.panel,
      },
    ],
  };
}

// Fields and buttons that do what dragging does.
function span_controls(whole, time, current, changed) {
  const field = (label) =>
    element("input", { type: "number", "aria-label": `${label} (${time.name})`, min: 0, max: time.of(whole.to_ns), step: "any" });
  const [from, to] = [field("from"), field("to")];
  const move = (shift, scale) => {
    const { from_ns, to_ns } = current();
    const middle = (from_ns + to_ns) / 2 + shift * (to_ns - from_ns);
    const half = ((to_ns - from_ns) / 2) * scale;
    changed({ from_ns: middle - half, to_ns: middle + half });
  };
  const typed = () => changed({ from_ns: from.valueAsNumber * time.size, to_ns: to.valueAsNumber * time.size });
  for (const input of [from, to]) input.addEventListener("change", typed);
  const button = (text, label, act) => element("button", { type: "button", "aria-label": label, title: label, click: act }, text);
  const bar = element(
    "div",
    { class: "toolbar span-controls", role: "group", "aria-label": "Span of time" },
    "From ", from, " to ", to, ` ${time.name} `,
    button("◀", "Earlier", () => move(-0.5, 1)),
    button("▶", "Later", () => move(0.5, 1)),
    button("+", "Zoom in", () => move(0, 0.5)),
    button("−", "Zoom out", () => move(0, 2)),
    button("Whole run", "Show the whole run", () => changed(whole)),
  );
  const show = ({ from_ns, to_ns }) => {
    from.value = Number(time.of(from_ns).toPrecision(6));
    to.value = Number(time.of(to_ns).toPrecision(6));
  };
  return { bar, show };
}

// A span inside the run, at least a bucket long; null where it is none.
function inside(span, whole, bucket_ns) {
  if (!Number.isFinite(span.from_ns) || !Number.isFinite(span.to_ns)) return null;
  const from = Math.max(whole.from_ns, Math.min(span.from_ns, span.to_ns));
  const to = Math.min(whole.to_ns, Math.max(span.from_ns, span.to_ns));
  const start = Math.min(from, whole.to_ns - bucket_ns);
  return { from_ns: Math.max(0, start), to_ns: Math.max(to, start + bucket_ns) };
}

mallard.charts.timeline = {
  title: "Memory over time",
  help:
    "Live are the bytes that the program has allocated and not freed; held are the pages that hold any of them, " +
    "which no heap could give back: what lies between them is fragmentation by placement. Each point is the most " +
    "of its span of time, so stacked subsystems can add up to more than live. Drag over a range to zoom in and to " +
    "read its figures below; a double click shows all again.",

  missing: ({ profile }) => (profile.timeline.live_bytes.length ? "" : "The recording is too short for a timeline."),

  summary({ profile }) {
    const { peak_live_bytes, peak_ns, duration_ns, end_live_bytes } = profile.totals;
    return (
      `Most memory was live after ${format.ns(peak_ns)} of ${format.ns(duration_ns)}: ${format.bytes(peak_live_bytes)}. ` +
      `At the end ${format.bytes(end_live_bytes)} were left.`
    );
  },

  async draw(container, data, context) {
    const { profile } = data;
    const { state, selection } = context;
    const whole = whole_span(profile);
    const { bucket_ns } = profile.timeline;
    const time = mallard.axis_unit.ns(whole.to_ns);
    const memory = mallard.axis_unit.bytes(Math.max(...profile.timeline.held_bytes, profile.totals.peak_live_bytes));
    state.view ??= "program";
    state.span ??= whole;

    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}` });
    const read_out = element("div", { class: "read-out", role: "status", "aria-label": "Figures of the span" });
    const controls = span_controls(whole, time, () => state.span, set_span);
    const views = [["program", "Whole program"], ["subsystems", "By subsystem"]];
    const view = mallard.choice("Timeline of", views, state.view, (value) => {
      state.view = value;
      return draw_plot();
    });
    container.append(element("div", { class: "toolbar" }, view), plot, controls.bar, read_out);

    function show_figures() {
      controls.show(state.span);
      const figures = mallard.timeline_span(profile, state.span);
      read_out.replaceChildren(...mallard.timeline_read_out(profile, state.span, figures, context.subsystem_colour));
    }

    function set_span(wanted) {
      const span = inside(wanted, whole, bucket_ns);
      if (span) state.span = span;
      show_figures();
      const is_whole = state.span.from_ns === whole.from_ns && state.span.to_ns === whole.to_ns;
      selection.set("span", is_whole ? null : state.span);
      return Plotly.relayout(plot, ranges(profile, state.span, time, memory));
    }

    function dragged(change) {
      const range = change["xaxis.range"] ?? [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      const [from_ns, to_ns] = [range[0] * time.size, range[1] * time.size];
      const same = (a, b) => Math.abs(a - b) < bucket_ns / 100;
      if (same(from_ns, state.span.from_ns) && same(to_ns, state.span.to_ns)) return;
      if (Number.isFinite(from_ns) && Number.isFinite(to_ns)) set_span({ from_ns, to_ns });
    }

    async function draw_plot() {
      const config = { doubleClick: false, modeBarButtons: [["toImage"]] };
      const lines = traces(profile, context, time, memory);
      await context.plot(plot, lines, layout(profile, context, state.span, time, memory), config);
      plot.on("plotly_relayout", dragged);
      plot.on("plotly_doubleclick", () => set_span(whole));
    }

    show_figures();
    selection.on("subsystem", draw_plot);
    await draw_plot();
  },
};
