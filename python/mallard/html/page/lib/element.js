// element: makes DOM elements: any one, and the few small ones that every page has.

const gap = 14; // between the pointer and its tooltip, in pixels
let choices = 0;

// An attribute that is a function is a listener ("onclick"), `true` is an attribute without a value, null and
// false leave it out; children that are strings become text.
mallard.element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.replace(/^on/, ""), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

// A small square of a colour, for legends and rows. It says nothing that the text beside it does not.
mallard.swatch = (colour) => {
  const made = mallard.element("span", { class: "swatch", "aria-hidden": "true" });
  made.style.setProperty("--colour", colour);
  return made;
};

// One of a few, as buttons side by side; radio buttons underneath, so that arrow keys change it. `options` are
// [value, text] pairs; `changed` hears the new value.
mallard.choice = (label, options, chosen, changed) => {
  const name = `choice-${(choices += 1)}`;
  const buttons = options.map(([value, text]) =>
    mallard.element(
      "label",
      {},
      mallard.element("input", { type: "radio", name, value, checked: value === chosen, change: () => changed(value) }),
      mallard.element("span", {}, text),
    ),
  );
  return mallard.element("div", { class: "choice", role: "radiogroup", "aria-label": label }, ...buttons);
};

// A box beside the pointer, or beside what the keyboard points at. It stays inside the window.
mallard.tooltip = (container) => {
  const box = mallard.element("div", { class: "tooltip", role: "tooltip", hidden: true });
  container.append(box);
  return {
    show(x, y, ...content) {
      box.replaceChildren(...content);
      box.hidden = false;
      const { width, height } = box.getBoundingClientRect();
      const room = document.documentElement;
      const left = x + gap + width > room.clientWidth ? x - gap - width : x + gap;
      const top = y + gap + height > room.clientHeight ? y - gap - height : y + gap;
      box.style.left = `${Math.max(4, left)}px`;
      box.style.top = `${Math.max(4, top)}px`;
    },
    hide() {
      box.hidden = true;
    },
  };
};
