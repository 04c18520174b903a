// operations: what each single call took, over the events, for two strategies side by side. A dot is the lowest
// time of an event; its colour is the size, its symbol the call. Circles are the ten worst.

const { calls, element, format } = mallard;

const symbols = ["circle", "diamond", "triangle-up", "square"];
const all_calls = "all";

const is_timed = (row) => (row.operations?.event.length ?? 0) > 0;
const tail_of = (row) => row.alloc_ns?.minimum?.p999 ?? row.free_ns?.minimum?.p999 ?? null;

function timed_rows(replay) {
  const { measured, floor } = mallard.replay_rows(replay);
  const rows = measured.filter(is_timed).sort((a, b) => tail_of(a) - tail_of(b));
  return floor && is_timed(floor) ? [...rows, floor] : rows;
}

// The two that are shown first: glibc, and the best of those that are no worse a bargain in memory.
function first_pair(replay, rows) {
  const usual = mallard.usual_strategies(replay, (row) => (is_timed(row) ? tail_of(row) : null));
  const best = timed_rows(replay).find(({ label }) => usual.includes(label) && label !== usual[0]);
  return [usual[0] ?? rows[0].label, best?.label ?? rows.at(-1).label];
}

function calls_of(rows) {
  return calls.filter((_, call) => rows.some(({ operations }) => operations.call.includes(call)));
}

// Small to large: lighter to darker on light, and the other way round on dark.
function size_scale(theme) {
  const colours = [theme.series[9], theme.series[3], theme.series[5], theme.scale.at(-1)[1]];
  return colours.map((colour, at) => [at / (colours.length - 1), colour]);
}

const doublings = (size) => Math.log2(Math.max(1, size));

function dots_of({ operations }, call, clock) {
  const { event, ns, size } = operations;
  const at = event.map((_, index) => index).filter((index) => operations.call[index] === call);
  return {
    x: at.map((index) => event[index]),
    y: at.map((index) => clock.place(ns[index])),
    size: at.map((index) => doublings(size[index])),
    hovertext: at.map((index) => `${calls[call]} of ${format.bytes(size[index])}: ${clock.write(ns[index])}<br>event ${format.count(event[index])}`),
  };
}

const sizes_of = ({ size, old_size }) => (old_size === null ? format.bytes(size) : `${format.bytes(old_size)} to ${format.bytes(size)}`);

function worst_text(worst, rank) {
  return [
    `<b>${rank + 1}. ${worst.call} of ${sizes_of(worst)}: ${format.ns(worst.ns)}</b>`,
    `event ${format.count(worst.event)}`,
    `${format.count(worst.live_blocks)} blocks live, ${format.bytes(worst.live)}`,
    `${format.count(worst.page_faults)} page faults`,
  ].join("<br>");
}

// What a symbol means, where several calls are drawn: the dots' own colours are sizes, which a legend cannot show.
function symbol_traces(shown, theme) {
  if (shown.length === 1) return [];
  return shown.map((name) => ({
    type: "scatter",
    mode: "markers",
    name,
    legendgroup: name,
    x: [null],
    y: [null],
    marker: { symbol: symbols[calls.indexOf(name)], size: 8, color: theme.muted },
  }));
}

function panel_traces(row, shown, axes, clock, theme, is_first) {
  const dots = shown.map((name) => {
    const call = calls.indexOf(name);
    const { size, ...places } = dots_of(row, call, clock);
    return {
      ...places,
      ...axes,
      type: "scatter",
      mode: "markers",
      name,
      legendgroup: name,
      showlegend: false,
      marker: { symbol: symbols[call], size: 5, opacity: 0.8, color: size, coloraxis: "coloraxis", line: { width: 0 } },
      hovertemplate: "%{hovertext}<extra></extra>",
    };
  });
  const worst = (row.worst ?? []).map((one, rank) => ({ one, rank })).filter(({ one }) => shown.includes(one.call));
  dots.push({
    ...axes,
    type: "scatter",
    mode: "markers",
    name: "the ten worst",
    cliponaxis: false,
    legendgroup: "worst",
    showlegend: is_first,
    x: worst.map(({ one }) => one.event),
    y: worst.map(({ one }) => clock.place(one.ns)),
    marker: { symbol: "circle-open", size: 12, color: theme.text, line: { width: 1.5 } },
    hovertext: worst.map(({ one, rank }) => worst_text(one, rank)),
    hovertemplate: "%{hovertext}<extra></extra>",
  });
  return dots;
}

// The ends of the axes: the same whichever two strategies are chosen.
function extremes_of(rows, shown) {
  const found = { most: 0, last: 0, smallest: Infinity, largest: 0 };
  for (const { operations } of rows) {
    for (const [at, call] of operations.call.entries()) {
      if (!shown.includes(calls[call])) continue;
      const size = doublings(operations.size[at]);
      found.most = Math.max(found.most, operations.ns[at]);
      found.last = Math.max(found.last, operations.event[at]);
      found.smallest = Math.min(found.smallest, size);
      found.largest = Math.max(found.largest, size);
    }
  }
  return found;
}

function layout_of(pair, clock, { most, last, smallest, largest }, theme) {
  const above = { y: 1, xref: "paper", yref: "paper", xanchor: "center", yanchor: "bottom", showarrow: false };
  const ticks = mallard.byte_ticks(2 ** smallest, 2 ** largest, 7);
  const events = { title: { text: "event" }, range: [-0.015 * last, 1.015 * last], tickformat: "~s", zeroline: false };
  return {
    height: 440,
    hovermode: "closest",
    margin: { t: 30 },
    legend: { y: 1.07 },
    xaxis: { ...events, domain: [0, 0.485] },
    xaxis2: { ...events, domain: [0.515, 1], matches: "x" },
    yaxis: { title: { text: "lowest time of an event" }, ...mallard.log_times(clock, most) },
    yaxis2: { anchor: "x2", matches: "y", showticklabels: false, ...mallard.log_times(clock, most) },
    annotations: pair.map((row, at) => ({ ...above, text: `<b>${row.label}</b>`, x: at === 0 ? 0.2425 : 0.7575 })),
    coloraxis: {
      colorscale: size_scale(theme),
      cmin: smallest,
      cmax: Math.max(smallest + 1, largest),
      colorbar: {
        title: { text: "size" },
        thickness: 12,
        outlinewidth: 0,
        tickvals: ticks.map(doublings),
        ticktext: ticks.map(format.bytes),
      },
    },
  };
}

// The ten worst of a row as a table: what hovering says, for those who cannot.
function worst_table(row) {
  const headings = ["Time", "Event", "Call", "Size", "Live blocks", "Live", "Faults"];
  const cells = (one) => {
    const alive = [format.count(one.live_blocks), format.bytes(one.live)];
    return [format.ns(one.ns), format.count(one.event), one.call, sizes_of(one), ...alive, format.count(one.page_faults)];
  };
  const cell = (text, at) => element("td", { class: at === 2 ? null : "number" }, text);
  const rows = (row.worst ?? []).map((one) => element("tr", {}, ...cells(one).map(cell)));
  const head = headings.map((text, at) => element("th", { scope: "col", "data-sort": at === 2 ? null : "number" }, text));
  const title = `The worst of ${row.label}, by their lowest time`;
  const headed = element("thead", {}, element("tr", {}, ...head));
  const table = element("table", { class: "worst" }, element("caption", {}, title), headed, element("tbody", {}, ...rows));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table);
}

mallard.charts.operations = {
  title: "Single operations",
  help:
    "A dot is one allocation or free of the program: the lowest of its times over all passes, so what the system did " +
    "meanwhile is gone, and what the strategy does at this event each time stays. Colour is the size. Of dots that " +
    "would hide each other the slowest is kept, so no extreme is missing. Circles are the ten slowest; below they are " +
    "listed with what was live and the page faults of the call. Drag over a part to enlarge it in both; a double " +
    "click shows all again.",

  missing(data) {
    const lacks = mallard.replay_lacks(data, "No single operation was timed.", "--latency --curve");
    return data.replay && timed_rows(data.replay).length > 0 ? "" : lacks;
  },

  summary({ replay }) {
    const rows = timed_rows(replay);
    const said = first_pair(replay, rows).map((label) => {
      const [worst] = rows.find((row) => row.label === label).worst ?? [];
      return worst ? `${label} takes ${format.ns(worst.ns)} at its worst, ${worst.call} of ${sizes_of(worst)} at event ${format.count(worst.event)}` : "";
    });
    return [...new Set(said)].filter(Boolean).map((text) => `${text}.`).join(" ");
  },

  async draw(container, data, context) {
    const { state, theme } = context;
    const { replay } = data;
    const rows = timed_rows(replay);
    const clock = mallard.clock_of(replay);
    const known = calls_of(rows);
    state.call ??= known[0];
    state.pair ??= first_pair(replay, rows);
    const options = known.length > 1 ? [...known, all_calls] : known;
    const choice = mallard.choice("Calls", options.map((name) => [name, name]), state.call, (name) => {
      state.call = name;
      return show();
    });
    const list = (side, at) => {
      const options = rows.map(({ label }) => element("option", { value: label, selected: label === state.pair[at] }, label));
      const chosen = ({ target }) => {
        state.pair[at] = target.value;
        return show();
      };
      return element("select", { "aria-label": `${side} strategy`, change: chosen }, ...options);
    };
    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}` });
    const tables = element("div", { class: "pair" });
    container.append(element("div", { class: "toolbar" }, choice, list("Left", 0), "beside", list("Right", 1)), plot, tables);

    async function show() {
      const pair = state.pair.map((label) => rows.find((row) => row.label === label));
      const shown = state.call === all_calls ? known : [state.call];
      const axes = [{ xaxis: "x", yaxis: "y" }, { xaxis: "x2", yaxis: "y2" }];
      const dots = pair.flatMap((row, at) => panel_traces(row, shown, axes[at], clock, theme, at === 0));
      tables.replaceChildren(...pair.map(worst_table));
      const layout = layout_of(pair, clock, extremes_of(rows, shown), theme);
      await context.plot(plot, [...symbol_traces(shown, theme), ...dots], layout, { modeBarButtons: [["toImage", "resetScale2d"]] });
    }
    await show();
  },
};
