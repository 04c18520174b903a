// contention: benchmark IV, time by the number of threads, with its spread, and the share of failed locks.

const { element, format } = mallard;

const power = (exponent) => mallard.power(2, exponent);
const { wall, warm } = mallard.measures.all;
// Lines that are there at once, beside those whose locks are counted: the paper's strategies.
const shown_first = 8;
const dashes = ["solid", "dash", "dot", "dashdot"];
const symbols = ["circle", "square", "diamond", "cross", "triangle-up", "star"];

const part_of = ({ iterations, block }) => `${iterations}/${block}`;
const part_text = (value) => {
  const [iterations, block] = value.split("/");
  return `N = ${power(iterations)}, S = ${power(block)}`;
};

function traces(documents, columns, theme) {
  const by_threads = [...documents].sort((one, other) => one.group.threads - other.group.threads);
  const row_of = mallard.view({ measure: wall, figures: "absolute" }).row_of;
  const made = [];
  columns.forEach(({ key, strategy }, at) => {
    const rows = by_threads.map((document) => [document.group.threads, row_of(document, key)]).filter(([, row]) => row?.wall_ns_per_event);
    if (rows.length === 0) return;
    const locks = rows.filter(([, row]) => row.failed_locks !== undefined);
    const style = {
      name: /^AS\d/.test(key) ? `${key} ${strategy}` : key,
      legendgroup: key,
      mode: "lines+markers",
      line: { color: theme.series[at % theme.series.length], dash: dashes[Math.floor(at / 4) % dashes.length], width: 1.8 },
      marker: { symbol: symbols[at % symbols.length], size: 7 },
      visible: at < shown_first || key === "A/A" || locks.length > 0 ? true : "legendonly",
    };
    const times = rows.map(([, row]) => row.wall_ns_per_event);
    const spread = rows.map(([, row]) => row.wall_spread ?? [row.wall_ns_per_event, row.wall_ns_per_event]);
    made.push({
      ...style,
      x: rows.map(([threads]) => threads),
      y: times,
      error_y: { type: "data", symmetric: false, array: spread.map(([, high], i) => high - times[i]), arrayminus: spread.map(([low], i) => times[i] - low), thickness: 1, width: 3 },
      hovertemplate: `<b>${style.name}</b>, %{x} threads<br>%{y:.4g} ns<br>%{text}<extra></extra>`,
      text: spread.map(([low, high]) => `spread ${low.toPrecision(4)} to ${high.toPrecision(4)}`),
    });
    if (locks.length === 0) return;
    made.push({
      ...style,
      showlegend: false,
      xaxis: "x2",
      yaxis: "y2",
      x: locks.map(([threads]) => threads),
      y: locks.map(([, row]) => 100 * row.failed_locks),
      hovertemplate: `<b>${style.name}</b>, %{x} threads<br>%{y:.2f} % of lock attempts failed<extra></extra>`,
    });
  });
  return made;
}

function layout(cores, threads, has_locks, theme) {
  const most = Math.max(...threads);
  const axis = { title: { text: "threads W" }, dtick: 1, fixedrange: true, range: [0.6, most + 0.4], zeroline: false };
  const crowded = (ref) => ({ type: "rect", xref: ref, yref: `${ref.replace("x", "y")} domain`, x0: cores + 0.5, x1: most + 0.4, y0: 0, y1: 1, fillcolor: theme.grid, opacity: 0.45, line: { width: 0 }, layer: "below" });
  const some = cores > 0 && cores < most;
  return {
    height: 420,
    hovermode: "closest",
    xaxis: { ...axis, domain: has_locks ? [0, 0.6] : [0, 1] },
    yaxis: { title: { text: "ns an iteration, wall time" }, rangemode: "tozero", fixedrange: true },
    xaxis2: { ...axis, domain: [0.69, 1], anchor: "y2" },
    yaxis2: { title: { text: "% of lock attempts that failed" }, anchor: "x2", rangemode: "tozero", fixedrange: true },
    shapes: some ? [crowded("x"), ...(has_locks ? [crowded("x2")] : [])] : [],
    annotations: some ? [{ xref: "x", yref: "y domain", x: cores + 0.6, y: 1, xanchor: "left", yanchor: "top", showarrow: false, text: "more threads than cores", font: { color: theme.muted } }] : [],
  };
}

function lines(context) {
  return (place, { run, documents, columns }) => {
    const plot = element("div", { role: "img", "aria-label": "Time by threads, a line a strategy; the table below has the figures." });
    place.append(plot);
    const drawn = traces(documents, columns, context.theme);
    const has_locks = drawn.some(({ xaxis }) => xaxis === "x2");
    const threads = documents.map(({ group }) => group.threads);
    context.plot(plot, drawn, layout(run.cores, threads, has_locks, context.theme), { modeBarButtons: [["toImage"]] });
  };
}

mallard.charts.contention = {
  title: "Benchmark IV: contention",
  help:
    "Each of W threads allocates and frees N blocks of S bytes. AS1 and AS2 are one allocator for all threads, of the others each thread has its own. " +
    "Bars around points are the spread. Where there are more threads than cores (shaded), threads take turns: then the share of failed lock attempts tells more than the time. " +
    "Choose a name in the legend to hide or show its line. In the table AS1 is in ns, the others in percent of it.",

  missing: (data) => (mallard.runs.of(data, "contention").own.length > 0 ? "" : "Nothing was measured."),

  summary(data) {
    const { own } = mallard.runs.of(data, "contention");
    const shares = own.flatMap((run) => run.documents.flatMap(({ rows }) => rows.map(({ failed_locks }) => failed_locks))).filter((share) => share !== undefined);
    return shares.length > 0 ? `At most ${format.share(Math.max(...shares))} of the attempts to take a lock failed.` : "";
  },

  draw(container, data, context) {
    mallard.comparison(container, data, context, {
      benchmark: "contention",
      corner: ["W"],
      heads: ({ threads }) => [String(threads)],
      measures: {
        wall: { ...wall, column: "ns" },
        warm: { ...warm, text: "CPU time", in_paper: false, column: "ns" },
        locks: { text: "Failed locks", of: ({ status, failed_locks }) => (status === "ok" ? failed_locks : undefined), write: (value) => `${(100 * value).toFixed(1)}`, whole: "percent of lock attempts that failed", unit: "% of attempts", in_paper: false, absolute: true },
      },
      percent: true,
      part: {
        label: "Iterations and size",
        options: (documents) => [...new Set(documents.map(({ group }) => part_of(group)))].map((value) => [value, part_text(value)]),
        of: part_of,
      },
      above: lines(context),
    });
  },
};
