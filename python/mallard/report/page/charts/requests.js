// requests: how many allocations ask for which size, and the share that asks for no more. Sizes are drawn by their
// logarithm; a bar is as wide as its bucket.

const { element, format } = mallard;

const bare = { fixedrange: true, showgrid: false, zeroline: false };

const quarters = [0, 25, 50, 75, 100];

const sizes_of = (data) => data.replay?.journal.sizes ?? [];

// Where a size is drawn: 0 has a place of its own, left of 1.
const place = (size) => (size === 0 ? -1 : Math.log2(size));

const bucket_text = ({ from, to }) => (from === to ? format.bytes(to) : `${format.count(from)} to ${format.count(to)} B`);

function sums_of(sizes) {
  let sum = 0;
  return sizes.map(({ allocations }) => (sum += allocations));
}

// The largest size of the bucket at which a share of all allocations is reached.
function at_share(sizes, share) {
  const sums = sums_of(sizes);
  return sizes[sums.findIndex((sum) => sum >= share * sums.at(-1))].to;
}

function traces_of(sizes, theme) {
  const sums = sums_of(sizes);
  const all = sums.at(-1);
  const x = sizes.map(({ from }) => place(from));
  const width = sizes.map(({ from, to }) => place(to + 1) - place(from));
  const text = sizes.map((bucket, at) => {
    const part = `${format.count(bucket.allocations)} allocations, ${format.share(bucket.allocations / all)}`;
    return [`<b>${bucket_text(bucket)}</b>`, part, `${format.share(sums[at] / all)} ask for no more`].join("<br>");
  });
  const hover = { hovertext: text, hovertemplate: "%{hovertext}<extra></extra>" };
  return [
    {
      ...hover,
      type: "bar",
      name: "allocations",
      x,
      width,
      offset: 0,
      y: sizes.map(({ allocations }) => allocations),
      marker: { color: theme.series[0], line: { color: theme.panel, width: 0.5 } },
    },
    {
      ...hover,
      type: "scatter",
      mode: "lines",
      name: "share that asks for no more",
      x: sizes.map(({ to }) => place(to + 1)),
      y: sums.map((sum) => (100 * sum) / all),
      yaxis: "y2",
      line: { color: theme.series[1], width: 2, shape: "hv" },
    },
  ];
}

mallard.charts.requests = {
  title: "Sizes asked for",
  help:
    "A bar is the number of allocations, callocs and reallocations that ask for a size: exact up to 16 bytes, above " +
    "that in four buckets to a doubling. The line is the share of them that asks for no more. Many of one size call " +
    "for a pool; what is spread over many doublings needs a general heap.",

  missing(data) {
    if (sizes_of(data).length > 0) return "";
    return mallard.replay_lacks(data, "The replay does not tell which sizes were asked for.", "--latency --curve");
  },

  summary(data) {
    const sizes = sizes_of(data);
    const most = sizes.reduce((found, bucket) => (bucket.allocations > found.allocations ? bucket : found));
    const [half, ninth, last] = [0.5, 0.9, 0.99].map((share) => format.bytes(at_share(sizes, share)));
    return (
      `Half of the allocations ask for at most ${half}, 90 % for at most ${ninth}, 99 % for at most ${last}. ` +
      `Most, ${format.count(most.allocations)}, ask for ${bucket_text(most)}.`
    );
  },

  async draw(container, data, context) {
    const { state, theme } = context;
    const sizes = sizes_of(data);
    state.axis ??= "linear";
    const plot = element("div", { role: "img", "aria-label": `${this.title}. ${this.summary(data)}` });
    container.append(element("div", { class: "toolbar" }, mallard.axis_choice("Axis of allocations", state, show)), plot);

    async function show() {
      const ticks = mallard.byte_ticks(1, sizes.at(-1).to + 1, 16);
      const zero = sizes[0].from === 0 ? [-0.5] : [];
      const counts = state.axis === "log" ? { type: "log", dtick: 1 } : { rangemode: "tozero" };
      await context.plot(
        plot,
        traces_of(sizes, theme),
        {
          height: 340,
          hovermode: "closest",
          xaxis: {
            ...bare,
            title: { text: "size" },
            tickvals: [...zero, ...ticks.map(place)],
            ticktext: [...zero.map(() => "0"), ...ticks.map(format.bytes)],
            range: [place(sizes[0].from) - 0.2, place(sizes.at(-1).to + 1) + 0.2],
            ticks: "outside",
          },
          yaxis: { title: { text: "allocations" }, tickformat: "~s", fixedrange: true, ...counts },
          yaxis2: { ...bare, overlaying: "y", side: "right", range: [0, 103], tickvals: quarters, ticktext: quarters.map((share) => `${share} %`) },
          legend: { traceorder: "normal" },
        },
        { modeBarButtons: [["toImage"]] },
      );
    }
    await show();
  },
};
