// choice: one of a few, as buttons side by side; radio buttons underneath, so that arrow keys change it.

let groups = 0;

// `options` are [value, text] pairs; `changed` hears the new value.
mallard.choice = (label, options, chosen, changed) => {
  const { element } = mallard;
  const name = `choice-${(groups += 1)}`;
  const buttons = options.map(([value, text]) =>
    element(
      "label",
      {},
      element("input", { type: "radio", name, value, checked: value === chosen, change: () => changed(value) }),
      element("span", {}, text),
    ),
  );
  return element("div", { class: "choice", role: "radiogroup", "aria-label": label }, ...buttons);
};
