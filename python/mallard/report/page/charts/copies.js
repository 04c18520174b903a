// copies: how many events a second get done by several copies of the program's threads at once. The dashed line is
// the schedule alone, without an allocator (none): no strategy can be above it.

const { element, format } = mallard;

const ideal_name = "none: the schedule alone";
const error_bars = { type: "data", symmetric: false, thickness: 1, width: 3 };
const per_second = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

const is_scaled = (row) => (row.scale?.length ?? 0) > 0;
const at_most = ({ scale }) => scale.at(-1);

function scaled_rows(replay) {
  const { measured, floor } = mallard.replay_rows(replay);
  const rows = measured.filter(is_scaled).sort((a, b) => at_most(b).events_per_second - at_most(a).events_per_second);
  return { rows, ideal: floor && is_scaled(floor) ? floor : null };
}

function point_text(row, point) {
  const [low, high] = [Math.min(...point.rounds), Math.max(...point.rounds)];
  const lines = [
    `<b>${row.label}</b>, ${point.copies} ${point.copies === 1 ? "copy" : "copies"}`,
    `${per_second.format(point.events_per_second)} events a second (${per_second.format(low)} to ${per_second.format(high)})`,
    `${format.number(point.events_per_second / row.scale[0].events_per_second)} times one copy`,
    `${format.number(point.cpu_ns_per_event)} ns of CPU time an event`,
    `${format.number(point.voluntary_switches)} voluntary, ${format.number(point.involuntary_switches)} involuntary switches`,
  ];
  if (point.contention !== null) lines.push(`contention ${format.share(point.contention)}`);
  return lines.join("<br>");
}

function trace_of(row, view, style) {
  const base = view === "times" ? row.scale[0].events_per_second : 1;
  const y = row.scale.map((point) => point.events_per_second / base);
  const error = (end) => row.scale.map((point, at) => Math.abs(end(...point.rounds) / base - y[at]));
  return {
    type: "scatter",
    mode: "lines+markers",
    name: row.label,
    x: row.scale.map(({ copies }) => copies),
    y,
    error_y: { ...error_bars, array: error(Math.max), arrayminus: error(Math.min), color: style.color },
    marker: { size: 6, color: style.color },
    line: style,
    hovertext: row.scale.map((point) => point_text(row, point)),
    hovertemplate: "%{hovertext}<extra></extra>",
  };
}

mallard.charts.copies = {
  title: "Copies at once",
  help:
    "Each line is a strategy that serves 1, 2, 3 ... copies of the program's threads at once, each copy with its own " +
    "blocks: the median of the rounds, and how far they spread. The dashed line is the same schedule without an " +
    "allocator; it bends where the machine has no more processors. A line that bends earlier waits for locks or " +
    "shares cache lines. Contention is the share of attempts to take a lock that found another thread there; locks " +
    "of other libraries cannot be asked.",

  missing(data) {
    const has = data.replay && scaled_rows(data.replay).rows.length > 0;
    return has ? "" : mallard.replay_adds(data, "Copies of the program's threads were not run at once.", "--threads --scale 4");
  },

  summary({ replay }) {
    const { rows } = scaled_rows(replay);
    const said = (row) => {
      const { events_per_second } = at_most(row);
      const times = format.number(events_per_second / row.scale[0].events_per_second);
      return `${row.label} with ${per_second.format(events_per_second)} events a second, ${times} times those of one`;
    };
    const first = rows.find(({ repeated }) => !repeated) ?? rows[0];
    const glibc = rows.find(({ strategy }) => strategy === "glibc");
    const beside = glibc && glibc !== first ? `; ${said(glibc)}` : "";
    return `${format.count(at_most(first).copies)} copies get most done by ${said(first)}${beside}.`;
  },

  async draw(container, data, context) {
    const { state, theme } = context;
    const { rows, ideal } = scaled_rows(data.replay);
    const styles = mallard.strategy_styles(data.replay, theme);
    const slowness = (row) => (is_scaled(row) ? -at_most(row).events_per_second : null);
    const usual = mallard.usual_strategies(data.replay, slowness);
    state.chosen ??= new Set(usual);
    state.view ??= "events";
    const all = rows.flatMap(({ scale }) => scale.map(({ events_per_second }) => events_per_second));
    state.axis ??= mallard.axis_kind(Math.min(...all), Math.max(...all));
    const view = mallard.choice("Figure", [["events", "Events a second"], ["times", "Times one copy"]], state.view, (value) => {
      state.view = value;
      return show();
    });
    const axis = mallard.axis_choice("Axis of events", state, show);
    const labels = rows.map(({ label }) => label);
    const toggles = mallard.strategy_toggles({ labels, styles, chosen: state.chosen, usual, changed: show });
    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}` });
    container.append(element("div", { class: "toolbar" }, view, axis), toggles, plot);

    async function show() {
      const chosen = rows.filter(({ label }) => state.chosen.has(label));
      const traces = chosen.map((row) => trace_of(row, state.view, styles.line(row.label)));
      const annotations = [];
      if (ideal) {
        const alone = { ...trace_of(ideal, state.view, { color: theme.muted, width: 1.5, dash: "dash" }), name: ideal_name };
        const end = alone.y.at(-1);
        const place = { x: alone.x.at(-1), y: state.axis === "log" ? Math.log10(end) : end, xanchor: "right", yanchor: "bottom", yshift: 6 };
        traces.push(alone);
        annotations.push({ ...place, text: ideal_name, showarrow: false, font: { color: theme.muted } });
      }
      const title = { text: state.view === "times" ? "times one copy" : "events a second" };
      const kind = state.axis === "log" ? { type: "log" } : { rangemode: "tozero" };
      await context.plot(
        plot,
        traces,
        {
          height: 380,
          hovermode: "closest",
          showlegend: false,
          annotations,
          xaxis: { title: { text: "copies at once" }, dtick: 1, fixedrange: true },
          yaxis: { title, tickformat: "~s", fixedrange: true, ...kind },
        },
        { modeBarButtons: [["toImage"]] },
      );
    }
    await show();
  },
};
