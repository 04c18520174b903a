// log_colours: counts as colours by their logarithm, with a colour bar that shows the counts themselves.
//
// Nothing (0) has no colour, so that a single object can still be told from none.

mallard.log_colours = (rows, scale, write) => {
  const most = Math.max(1, ...rows.flat());
  const decades = Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, power) => power);
  const step = Math.ceil(decades.length / 6);
  const ticks = decades.filter((power) => power % step === 0);
  return {
    type: "heatmap",
    z: rows.map((row) => row.map((count) => (count > 0 ? Math.log10(count) : null))),
    zmin: -Math.log10(most) / 8,
    zmax: Math.max(1, Math.log10(most)),
    colorscale: scale,
    hoverongaps: false,
    hovertemplate: "%{hovertext}<extra></extra>",
    colorbar: {
      tickvals: ticks,
      ticktext: ticks.map((power) => write(10 ** power)),
      thickness: 12,
      outlinewidth: 0,
    },
  };
};
