// timeline: live and held bytes of the whole program over time.

mallard.charts.timeline = {
  title: "Memory over time",
  help: "Live: bytes the program has allocated and not freed. Held: pages that hold any of them.",

  draw(container, data, context) {
    const { live_bytes, held_bytes, bucket_ns } = data.profile.timeline;
    const seconds = live_bytes.map((_, bucket) => (bucket * bucket_ns) / 1e9);
    const trace = (name, y) => ({ name, x: seconds, y, mode: "lines" });
    return context.plot(container, [trace("held", held_bytes), trace("live", live_bytes)], {
      height: 320,
      xaxis: { title: { text: "seconds" } },
      yaxis: { title: { text: "bytes" } },
    });
  },
};
