// copy_button: copies a table as CSV: plain figures rather than what is read.

const { element } = mallard;

const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function csv(table) {
  const headings = [...table.tHead.rows].at(-1);
  const lines = [headings, ...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? mallard.power_of(cell.textContent)));
  return lines.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

// Pages from files may not use the clipboard everywhere: then the text is selected in a field, to be copied by hand.
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const area = element("textarea", { "aria-label": "Table as CSV", rows: "6", readonly: true });
    area.value = text;
    button.after(area);
    area.select();
  }
}

mallard.copy_button = (table) => {
  const button = element("button", { type: "button", class: "copy" }, "Copy as CSV");
  button.addEventListener("click", () => copy(csv(table), button));
  return button;
};
