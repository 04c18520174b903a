// heat_table: a heat map that is a table, so that it can be read by everybody: figures in coloured cells.
//
//     { caption, corner: ["size"], families: [{name, columns: [{name, about, long}]}],
//       lines: [{heads: ["2^6"], cells: [{text, value, plain, around, tip, end}]}], scale }
//
// Tab goes to one cell, arrow keys, Home and End go from cell to cell; what is known of the cell is its tip
// (html/page/lib/tip.js). A table below one of `above` columns has columns as wide as these. A cell without a figure says how it ended ("skip", "fail", "broke").

const { element } = mallard;

const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function head(corner, families) {
  const named = families.some(({ name }) => name);
  const above = named && element("tr", {}, ...corner.map(() => element("td", {})), ...families.map(({ name, columns }) => element("th", { scope: "colgroup", colspan: columns.length, class: "family" }, element("span", {}, name))));
  const columns = families.flatMap(({ columns: all }) => all.map((one, at) => [one, at === 0]));
  const names = columns.map(([{ name, about, long }, first]) =>
    element("th", { scope: "col", class: `${long ? "long " : ""}${first ? "first" : ""}`, "data-tip": about || null }, element("span", {}, name)),
  );
  return element("thead", {}, above || null, element("tr", {}, ...corner.map((text) => element("th", { scope: "col" }, text)), ...names));
}

function widths(corner, columns) {
  const heads = corner.map(() => element("col", { class: "corner" }));
  return element("colgroup", {}, ...heads, ...columns.map(() => element("col")));
}

function cell_of(cell, scale, first) {
  const made = element("td", { class: first ? "first" : null, "data-end": cell.end || null, tabindex: "-1", "data-tip": cell.tip || null }, cell.text);
  if (cell.plain !== undefined) made.dataset.value = cell.plain;
  if (cell.around !== undefined) made.dataset.around = cell.around;
  if (cell.value !== null && cell.value !== undefined && scale) Object.assign(made.style, scale.of(cell.value));
  return made;
}

// One cell is reached by Tab: the one that was left.
function by_keys(body) {
  const rows = () => [...body.rows].map((row) => [...row.querySelectorAll("td[tabindex]")]).filter((cells) => cells.length > 0);
  const all = rows();
  if (all.length === 0) return;
  all[0][0].tabIndex = 0;
  const go = (from, to) => {
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
  body.addEventListener("keydown", (event) => {
    const from = event.target.closest("td[tabindex]");
    const row = all.findIndex((cells) => cells.includes(from));
    if (row < 0) return;
    const column = all[row].indexOf(from);
    if (event.key === "Home" || event.key === "End") go(from, all[row].at(event.key === "Home" ? 0 : -1));
    else if (steps[event.key]) go(from, all[row + steps[event.key][0]]?.[column + steps[event.key][1]]);
    else return;
    event.preventDefault();
  });
}

const csv_field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function csv(table) {
  const headings = [...table.tHead.rows].at(-1);
  const lines = [headings, ...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? mallard.power_of(cell.textContent)));
  return lines.map((line) => `${line.map(csv_field).join(",")}\r\n`).join("");
}

// Pages from files may not use the clipboard everywhere: then the text is selected in a field, to be copied by hand.
async function copy_text(text, button) {
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

// A button that copies a table as CSV: plain figures rather than what is read.
function copy_button(table) {
  const button = element("button", { type: "button", class: "copy" }, "Copy as CSV");
  button.addEventListener("click", () => copy_text(csv(table), button));
  return button;
}

mallard.heat_table = ({ caption, corner, families, lines, scale, above = 0 }) => {
  const firsts = families.flatMap(({ columns }) => columns.map((_, at) => at === 0));
  const body = element(
    "tbody",
    {},
    ...lines.map(({ heads, cells, instead }) =>
      element(
        "tr",
        {},
        ...heads.map((text) => element("th", { scope: "row" }, text)),
        ...(instead
          ? [element("td", { class: "instead", "data-end": "skip", colspan: firsts.length, tabindex: "-1", "data-value": "skipped" }, instead)]
          : cells.map((cell, at) => cell_of(cell, scale, firsts[at]))),
      ),
    ),
  );
  by_keys(body);
  const table = element("table", { class: "heat" }, element("caption", {}, caption), widths(corner, firsts), head(corner, families), body);
  table.style.setProperty("--columns", firsts.length);
  table.style.setProperty("--of", above || firsts.length);
  table.style.setProperty("--heads", corner.length);
  const copy = copy_button(table);
  return element("div", { class: "heat-map" }, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table), copy);
};
