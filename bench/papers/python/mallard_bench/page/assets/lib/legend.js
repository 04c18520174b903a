// legend: which colour means what, and what stands where there is no figure.

const { element } = mallard;

const ends = [
  ["skip", "skipped"],
  ["fail", "memory ran out"],
  ["broke", "crashed or wrong"],
];

mallard.scale_legend = ({ colours, ends: texts }, name) => {
  const bar = element("span", { class: "scale-bar", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
  const [low, middle, high] = texts;
  const labels = element("span", { class: "scale-ends" }, ...[low, middle, high].map((text) => element("span", {}, text)));
  const statuses = ends.map(([mark, text]) => element("span", { class: "status" }, element("span", { class: "cell-key", "data-end": mark }, mark), ` ${text}`));
  return element("div", { class: "scale-legend" }, element("span", {}, name), element("span", { class: "scale" }, bar, labels), ...statuses);
};
