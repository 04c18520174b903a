// theme: dark or light, as the system has it or as the button was left; the colours of now, as style.css sets them,
// for what is drawn by scripts; and colours made of these: between two, that let others through, and the text that can
// be read on one.

const key = "mallard-theme";
const root = document.documentElement;
const system_dark = matchMedia("(prefers-color-scheme: dark)");

const is_dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system_dark.matches);

// A colour of style.css in a form that every library reads.
function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  root.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const colours = (prefix, first, last) =>
  Array.from({ length: last - first + 1 }, (_, at) => colour(`${prefix}-${first + at}`));

function keep(theme) {
  root.dataset.theme = theme;
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Some browsers keep nothing for files; the theme holds until the page is closed.
  }
}

mallard.theme = {
  colour,

  now() {
    const scale = colours("scale", 0, 4);
    return {
      dark: is_dark(),
      text: colour("text"),
      muted: colour("muted"),
      grid: colour("grid"),
      panel: colour("panel"),
      accent: colour("accent"),
      warning: colour("warning"),
      font: getComputedStyle(root).fontFamily,
      series: colours("series", 1, 12),
      scale: scale.map((step, at) => [at / (scale.length - 1), step]),
    };
  },

  // Makes the button work; `changed` is called whenever colours have changed.
  start(button, changed) {
    const tell = () => button.setAttribute("aria-pressed", String(is_dark()));
    button.hidden = false;
    tell();
    button.addEventListener("click", () => {
      keep(is_dark() ? "light" : "dark");
      tell();
      changed();
    });
    system_dark.addEventListener("change", () => {
      tell();
      if (!root.dataset.theme) changed();
    });
  },
};

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
