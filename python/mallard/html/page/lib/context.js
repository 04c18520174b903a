// context: what a chart is given beside its data; a page may add to it.
//
//     state       an object of the chart's own, in which it keeps what a user set
//     theme       colours of now: dark, text, muted, grid, panel, accent, series[], scale (plotly)
//     plot(container, traces, layout, config)  -> promise; Plotly.newPlot under the page's layout

function base_layout(theme) {
  const axis = {
    gridcolor: theme.grid,
    linecolor: theme.grid,
    zerolinecolor: theme.grid,
    tickcolor: theme.grid,
    automargin: true,
    title: { standoff: 8 },
  };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.text },
    colorway: theme.series,
    margin: { l: 60, r: 16, t: 12, b: 44 },
    hoverlabel: { bgcolor: theme.panel, bordercolor: theme.muted, font: { color: theme.text }, align: "left" },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.muted, activecolor: theme.text },
    xaxis: axis,
    yaxis: axis,
  };
}

// A layout over another: objects are joined, all else is replaced. Further axes are like the first.
function joined(base, over) {
  const result = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = result[name] ?? (/^[xy]axis\d+$/.test(name) ? base[name.slice(0, 5)] : undefined);
    const both = below?.constructor === Object && value?.constructor === Object;
    result[name] = both ? joined(below, value) : value;
  }
  return result;
}

const base_config = { responsive: true, displaylogo: false, scrollZoom: false };

mallard.context = (theme, state) => ({
  theme,
  state,
  plot: (container, traces, layout = {}, config = {}) =>
    Plotly.newPlot(container, traces, joined(base_layout(theme), layout), { ...base_config, ...config }),
});
