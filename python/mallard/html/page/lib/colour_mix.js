// colour_mix: colours between two colours, colours that let others through, and the text that can be read on one.

const probe = document.createElement("canvas").getContext("2d");

// Each colour is worked out once: thousands of cells share a few.
function remembered(work) {
  const results = new Map();
  return (...input) => {
    const key = input.join("/");
    if (!results.has(key)) results.set(key, work(...input));
    return results.get(key);
  };
}

const channels = remembered((colour) => {
  probe.fillStyle = "#000";
  probe.fillStyle = colour;
  return [1, 3, 5].map((at) => Number.parseInt(probe.fillStyle.slice(at, at + 2), 16));
});

// `share` of the second colour in the first.
mallard.colour_mix = remembered((first, second, share) => {
  const [a, b] = [channels(first), channels(second)];
  const mixed = a.map((value, at) => Math.round(value + (b[at] - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
});

// The colour with so much of it left (0 to 1), above whatever it covers.
mallard.faded = (colour, left) => `rgba(${channels(colour).join(", ")}, ${left})`;

// Black or white, whichever stands out more (relative luminance as WCAG defines it).
mallard.text_on = remembered((colour) => {
  const linear = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return luminance > 0.179 ? "#000000" : "#ffffff";
});
