// scale: figures as colours that people who see few colours can tell apart; figures stand in the cells as well.
//
//     around 1:  blue (a quarter) --- neutral (1) --- orange (four times)       ratios
//     between:   pale (least) ------------------- dark (most), by the logarithm  everything else

const { element } = mallard;

const most_ratio = 4;

function mark(colour) {
  return { background: colour, color: mallard.text_on(colour) };
}

mallard.scale = {
  around_one({ faster, slower, neutral }) {
    return {
      of(value) {
        const place = Math.log(Math.max(value, 1e-9)) / Math.log(most_ratio);
        const end = place < 0 ? faster : slower;
        return mark(mallard.colour_mix(neutral, end, Math.round(50 * Math.min(1, Math.abs(place))) / 50));
      },
      ends: [`1/${most_ratio} or less`, "1", `${most_ratio} or more`],
      colours: [faster, neutral, slower],
    };
  },
  between({ scale }, values, write) {
    const known = values.filter((value) => value > 0);
    const [least, most] = known.length > 0 ? [Math.min(...known), Math.max(...known)] : [1, 1];
    const span = Math.log(most / least);
    const steps = scale.map(([, colour]) => colour);
    return {
      of(value) {
        const place = value > 0 && span > 0 ? Math.min(1, Math.max(0, Math.log(value / least) / span)) : 0;
        const at = Math.min(steps.length - 2, Math.floor(place * (steps.length - 1)));
        return mark(mallard.colour_mix(steps[at], steps[at + 1], Math.round(20 * (place * (steps.length - 1) - at)) / 20));
      },
      ends: [write(least), write(Math.sqrt(least * most)), write(most)],
      colours: steps,
    };
  },
};

const statuses = [
  ["skip", "skipped"],
  ["fail", "memory ran out"],
  ["broke", "crashed or wrong"],
];

// Which colour means what, and what stands where there is no figure.
mallard.scale_legend = ({ colours, ends: texts }, name) => {
  const bar = element("span", { class: "scale-bar", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
  const [low, middle, high] = texts;
  const labels = element("span", { class: "scale-ends" }, ...[low, middle, high].map((text) => element("span", {}, text)));
  const marks = statuses.map(([mark, text]) => element("span", { class: "status" }, element("span", { class: "cell-key", "data-end": mark }, mark), ` ${text}`));
  return element("div", { class: "scale-legend" }, element("span", {}, name), element("span", { class: "scale" }, bar, labels), ...marks);
};
