// theme: dark or light, as the system has it or as the button was left; and the colours of now, as style.css
// sets them, for what is drawn by scripts.

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
