// threads: which thread allocates and which one frees, as a matrix.

const { element, format } = mallard;

const most_threads = 16;

const sum = (values) => values.reduce((total, value) => total + value, 0);

// Names of threads; those that share one get their number beside it.
function labels(threads) {
  const times = new Map();
  for (const { name } of threads) times.set(name, (times.get(name) ?? 0) + 1);
  return threads.map(({ name, system_id }) => (name === "" ? `thread ${system_id}` : times.get(name) > 1 ? `${name} ${system_id}` : name));
}

// The threads with most objects one by one, the others together. The last column stays: never freed.
// Where the matrix itself has others, they are its last row and the column before the last.
function matrix_of({ threads, thread_matrix }) {
  const { objects } = thread_matrix;
  const names = labels(threads);
  const never = objects.length;
  const rows = thread_matrix.threads.map((_, row) => row);
  const weight = (row) => sum(objects[row]) + sum(objects.map((cells) => cells[row]));
  const ranked = rows.sort((a, b) => weight(b) - weight(a));
  const shown = ranked.slice(0, most_threads).sort((a, b) => a - b);
  const others = objects.map((_, row) => row).filter((row) => !shown.includes(row));
  const groups = [...shown.map((row) => [row]), ...(others.length > 0 ? [others] : [])];
  const count = (rows, columns) => sum(rows.flatMap((row) => columns.map((column) => objects[row][column])));
  const hidden = threads.length - shown.length;
  const name = (row) => (row < thread_matrix.threads.length ? names[thread_matrix.threads[row]] : `${hidden} others`);
  return {
    names: groups.map((group) => (group.length > 1 ? `${hidden} others` : name(group[0]))),
    cells: groups.map((allocating) => [...groups, [never]].map((freeing) => count(allocating, freeing))),
  };
}

function totals({ thread_matrix, whole }) {
  const { objects } = thread_matrix;
  const all = sum(objects.flat());
  const never = sum(objects.map((row) => row.at(-1)));
  return { all, never, freed: whole.allocations - whole.free_order.never, foreign: whole.foreign_frees };
}

mallard.charts.threads = {
  title: "Threads",
  help:
    "A row is the thread that allocated, a column the thread that freed: what lies off the diagonal crossed from " +
    "one thread to another, and needs a heap that takes frees of other threads. The last column holds what was never freed.",

  missing({ profile }) {
    const { all, never } = totals(profile);
    if (all === 0) return "There are no objects to show.";
    if (profile.threads.length > 1) return "";
    const [name] = labels(profile.threads);
    return (
      `The program has one thread, ${name}: it allocates and frees everything itself ` +
      `(${format.count(all)} objects, ${format.count(never)} of them never freed).`
    );
  },

  summary({ profile }) {
    const { freed, foreign } = totals(profile);
    const share = freed === 0 ? "none were freed" : `${format.share(foreign / freed)} of the freed objects are freed by another thread than the one that allocated them`;
    return `${format.count(profile.thread_matrix.allocating)} of ${format.count(profile.threads.length)} threads allocate; ${share}.`;
  },

  draw(container, data, context) {
    const { profile } = data;
    const { theme } = context;
    const { names, cells } = matrix_of(profile);
    const all = totals(profile).all;
    const columns = [...names, "never freed"];
    const y = names.map((_, row) => row);
    const x = columns.map((_, column) => (column === names.length ? column + 0.3 : column));
    const hovertext = cells.map((row, allocating) =>
      row.map((count, freeing) => {
        const end = freeing === names.length ? "never freed" : `freed by <b>${columns[freeing]}</b>`;
        return `allocated by <b>${names[allocating]}</b>, ${end}<br>${format.count(count)} objects (${format.share(count / all)})`;
      }),
    );
    const few = names.length <= 8;
    const coloured = mallard.log_colours(cells, theme.scale, format.count);
    const text = cells.map((row) => row.map((count) => (few && count ? format.count(count) : "")));
    const trace = (from, to) => {
      const part = (rows) => rows.map((row) => row.slice(from, to));
      const cut = { z: part(coloured.z), hovertext: part(hovertext), text: part(text), x: x.slice(from, to) };
      return { ...coloured, ...cut, y, texttemplate: "%{text}", xgap: 2, ygap: 2 };
    };
    const diagonal = y.map((at) => ({ type: "rect", x0: at - 0.5, x1: at + 0.5, y0: at - 0.5, y1: at + 0.5, line: { color: theme.muted, width: 1, dash: "dot" } }));
    const axis = { showgrid: false, zeroline: false, fixedrange: true };
    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}`, class: "thread-matrix" });
    container.append(plot);
    return context.plot(
      plot,
      [trace(0, names.length), { ...trace(names.length, names.length + 1), showscale: false }],
      {
        height: 130 + Math.max(2, names.length) * (few ? 44 : 30),
        shapes: diagonal,
        xaxis: { ...axis, title: { text: "freed by" }, side: "top", tickvals: x, ticktext: columns },
        yaxis: { ...axis, title: { text: "allocated by" }, autorange: "reversed", tickvals: y, ticktext: names },
        margin: { t: 60, b: 16 },
      },
      { modeBarButtons: [["toImage"]] },
    );
  },
};
