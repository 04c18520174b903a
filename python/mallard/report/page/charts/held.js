// held: what strategies hold over the events, above what the program had live. The table below measures it.

const { element, format } = mallard;

const most_unified = 9; // that can be read in one hover
const has_curve = ({ curve }) => (curve?.event.length ?? 0) > 0;
const measured_rows = (replay) => mallard.replay_rows(replay).measured.filter(has_curve);
const held_of = (row) => row.fragmentation_measures?.max_to_max ?? (has_curve(row) ? Math.max(...row.curve.held_max) : null);
const ranked = (replay) => measured_rows(replay).sort((a, b) => held_of(a) - held_of(b));

// The one with most points: a malloc may have fewer.
const reference = (rows) => rows.reduce((most, row) => (row.curve.event.length > most.curve.event.length ? row : most));

function live_trace({ curve }, place, theme) {
  return {
    type: "scatter",
    mode: "lines",
    name: "live",
    x: curve.event,
    y: curve.live.map(place),
    text: curve.live.map(format.bytes),
    fill: "tozeroy",
    fillcolor: mallard.faded(theme.muted, 0.2),
    line: { color: theme.muted, width: 1.5 },
    hovertemplate: "%{text}",
  };
}

const range_text = (low, high) => (low === high ? format.bytes(high) : `${format.bytes(low)} to ${format.bytes(high)}`);

function row_traces(row, place, styles, with_granted) {
  const { event, granted, held_min, held_max } = row.curve;
  const { color } = styles.of(row.label);
  const line = { type: "scatter", mode: "lines", x: event, name: row.label, legendgroup: row.label };
  const traces = [
    { ...line, y: held_min.map(place), line: { width: 0 }, hoverinfo: "skip" },
    {
      ...line,
      y: held_max.map(place),
      text: held_max.map((high, at) => range_text(held_min[at], high)),
      fill: "tonexty",
      fillcolor: mallard.faded(color, 0.2),
      line: styles.line(row.label, 1.75),
      hovertemplate: "%{text}",
    },
  ];
  if (!with_granted || granted.every((value) => value === null)) return traces;
  const known = granted.map((value) => (value === null ? null : place(value)));
  const dotted = { ...styles.line(row.label, 1), dash: "dot" };
  const text = granted.map(format.bytes);
  return [...traces, { ...line, name: `${row.label}, granted`, y: known, text, connectgaps: true, line: dotted, hovertemplate: "%{text}" }];
}

function axis_of(kind, rows) {
  const most = Math.max(...rows.flatMap(({ curve }) => [...curve.held_max, ...curve.live]));
  if (kind === "log") {
    const least = Math.max(1, most / 2 ** 10);
    const ticks = mallard.byte_ticks(least, most * 1.2);
    const range = [Math.log10(least), Math.log10(most * 1.2)];
    const layout = { type: "log", range, tickvals: ticks, ticktext: ticks.map(format.bytes) };
    return { place: (bytes) => Math.max(bytes, least / 2), layout };
  }
  const unit = mallard.axis_unit.bytes(most);
  return { place: unit.of, layout: { title: { text: unit.name }, range: [0, unit.of(most) * 1.06] } };
}

mallard.charts.held = {
  title: "Held over time",
  help:
    "The grey area is what the program had live after each event; a line is what a strategy held for it, and the " +
    "band below the line how far that fell within a stretch of events. What lies between area and line is lost to " +
    "rounding, headers, free blocks and what is kept for later. Granted is what blocks could hold. The table has the " +
    "four measures of Johnstone and Wilson: 1 means that nothing is wasted; and where the strategy can tell, how what " +
    "it held at the moment of most live bytes divides.",

  missing(data) {
    if (data.replay && measured_rows(data.replay).length > 0) return "";
    return mallard.replay_lacks(data, "What strategies hold over time was not measured.", "--latency --curve");
  },

  summary({ replay }) {
    const rows = ranked(replay).filter(({ fragmentation_measures, repeated }) => fragmentation_measures?.max_to_max && !repeated);
    if (rows.length === 0) return "";
    const said = (row) => `${row.label} with ${format.number(row.fragmentation_measures.max_to_max)} times the most live bytes`;
    return rows.length === 1 ? `${said(rows[0])}.` : `${said(rows[0])} holds least, ${said(rows.at(-1))} most.`;
  },

  async draw(container, data, context) {
    const { state, theme } = context;
    const { replay } = data;
    const rows = ranked(replay);
    const styles = mallard.strategy_styles(replay, theme);
    const usual = mallard.usual_strategies(replay, (row) => (has_curve(row) ? held_of(row) : null));
    state.chosen ??= new Set(usual);
    state.axis ??= "linear";
    state.granted ??= "held";
    const axis = mallard.axis_choice("Axis of bytes", state, show);
    const granted = mallard.choice("Lines", [["held", "Held"], ["granted", "Held and granted"]], state.granted, (value) => {
      state.granted = value;
      return show();
    });
    const labels = rows.map(({ label }) => label);
    const toggles = mallard.strategy_toggles({ labels, styles, chosen: state.chosen, usual, changed: show });
    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}` });
    container.append(element("div", { class: "toolbar" }, axis, granted), toggles, plot);

    async function show() {
      const chosen = rows.filter(({ label }) => state.chosen.has(label));
      const { place, layout } = axis_of(state.axis, chosen.length > 0 ? chosen : rows);
      const of_rows = chosen.flatMap((row) => row_traces(row, place, styles, state.granted === "granted"));
      const traces = [live_trace(reference(rows), place, theme), ...of_rows];
      await context.plot(
        plot,
        traces,
        {
          height: 400,
          showlegend: false,
          hovermode: chosen.length > most_unified ? "closest" : "x unified",
          xaxis: { title: { text: "event" }, tickformat: "~s", unifiedhovertitle: { text: "event %{x:,.0f}" } },
          yaxis: { fixedrange: true, ...layout },
        },
        { modeBarButtons: [["toImage", "resetScale2d"]] },
      );
    }
    await show();
  },
};
