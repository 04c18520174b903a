// swatch: a small square of a colour, for legends and rows. It says nothing that the text beside it does not.

mallard.swatch = (colour) => {
  const made = mallard.element("span", { class: "swatch", "aria-hidden": "true" });
  made.style.setProperty("--colour", colour);
  return made;
};
