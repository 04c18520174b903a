// timeline_span: what happened between two times, from the buckets of a timeline.
//
//     |--b--|--b--|--b--|--b--|     buckets hold the most of their span, so growth is from the bucket
//           [ span      ]           before the first to the last: exact to one bucket

const { element, format } = mallard;

mallard.timeline_span = (profile, { from_ns, to_ns }) => {
  const { bucket_ns, live_bytes, held_bytes, allocations } = profile.timeline;
  const first = Math.min(live_bytes.length - 1, Math.max(0, Math.floor(from_ns / bucket_ns)));
  const last = Math.min(live_bytes.length - 1, Math.max(first, Math.ceil(to_ns / bucket_ns) - 1));
  const growth = (values) => values[last] - (first === 0 ? 0 : values[first - 1]);
  const inside = (values) => values.slice(first, last + 1);
  const count = inside(allocations).reduce((sum, value) => sum + value, 0);
  return {
    allocations: count,
    per_second: (1e9 * count) / ((last - first + 1) * bucket_ns),
    least_live: Math.min(...inside(live_bytes)),
    most_live: Math.max(...inside(live_bytes)),
    most_held: Math.max(...inside(held_bytes)),
    growth: growth(live_bytes),
    of_subsystems: profile.subsystems
      .map((subsystem, index) => ({ index, name: subsystem.name, values: subsystem.live_bytes }))
      .filter(({ values }) => values.length === live_bytes.length)
      .map(({ index, name, values }) => ({ index, name, growth: growth(values), end: values[last] })),
  };
};

const most_rows = 6;

function signed(bytes) {
  return bytes < 0 ? `−${format.bytes(-bytes)}` : `+${format.bytes(bytes)}`;
}

function figure(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function growth_row(profile, { index, name, growth, end }, colour) {
  return element(
    "tr",
    {},
    element("th", { scope: "row", title: name }, mallard.swatch(colour(index)), mallard.subsystem_name(profile, index)),
    element("td", {}, signed(growth)),
    element("td", {}, format.bytes(end)),
  );
}

// The figures of a span as elements: main figures, then the subsystems that grew or shrank most.
mallard.timeline_read_out = (profile, span, figures, colour) => {
  const changed = figures.of_subsystems
    .filter(({ growth }) => growth !== 0)
    .sort((a, b) => Math.abs(b.growth) - Math.abs(a.growth));
  const list = element(
    "dl",
    { class: "figures" },
    figure("span", `${span.from_ns === 0 ? "0" : format.ns(span.from_ns)} to ${format.ns(span.to_ns)}`),
    figure("allocations", format.count(figures.allocations)),
    figure("per second", format.count(figures.per_second)),
    figure("live, least to most", `${format.bytes(figures.least_live)} to ${format.bytes(figures.most_live)}`),
    figure("held, most", format.bytes(figures.most_held)),
    figure("growth of live", signed(figures.growth)),
  );
  if (changed.length === 0) return [list];
  const headings = ["subsystem", "growth", "live at its end"].map((text) => element("th", { scope: "col" }, text));
  const others = changed.length - most_rows;
  const table = element(
    "table",
    { class: "growth" },
    element("caption", {}, "Growth of subsystems in this span"),
    element("thead", {}, element("tr", {}, ...headings)),
    element("tbody", {}, ...changed.slice(0, most_rows).map((row) => growth_row(profile, row, colour))),
  );
  return [list, table, others > 0 ? element("p", { class: "note" }, `${others} more changed less.`) : ""];
};
