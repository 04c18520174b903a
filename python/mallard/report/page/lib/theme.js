// theme: the colours of now, as style.css sets them, for what is drawn by scripts.

const series_names = ["1", "2", "3", "4", "5", "6", "7", "8"];

mallard.theme = {
  now() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const steps = ["scale-0", "scale-1", "scale-2", "scale-3", "scale-4"].map(colour);
    return {
      dark: style.colorScheme === "dark",
      text: colour("text"),
      muted: colour("muted"),
      grid: colour("grid"),
      panel: colour("panel"),
      accent: colour("accent"),
      warning: colour("warning"),
      font: style.fontFamily,
      series: series_names.map((name) => colour(`series-${name}`)),
      scale: steps.map((step, at) => [at / (steps.length - 1), step]),
    };
  },
};
