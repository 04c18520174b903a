// table: makes a table of the page sort, by mouse and by keyboard.
//
// A heading with `data-sort` (number or text) becomes a button; a cell is sorted by its `data-value`, and one
// without any comes last whichever way. Rows that belong to one above them (class "more") stay under it.

const { element } = mallard;

function plain(row, column, kind) {
  const value = row.cells[column]?.dataset.value;
  if (value === undefined) return null;
  return kind === "number" ? Number(value) : value;
}

function compare(one, other, kind) {
  return kind === "number" ? one - other : one.localeCompare(other, "en", { numeric: true });
}

function sort(table, column, kind, direction) {
  const body = table.tBodies[0];
  const rows = [...body.rows].filter((row) => !row.classList.contains("more"));
  const keyed = rows.map((row) => ({ row, below: row.nextElementSibling, key: plain(row, column, kind) }));
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) return (one.key === null) - (other.key === null);
    return direction * compare(one.key, other.key, kind);
  });
  const ordered = keyed.flatMap(({ row, below }) => (below?.classList.contains("more") ? [row, below] : [row]));
  body.replaceChildren(...ordered);
}

function sortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const kind = heading.dataset.sort;
    if (!kind) return;
    const button = element("button", { type: "button" }, ...heading.childNodes);
    if (heading.dataset.tip) {
      button.dataset.tip = heading.dataset.tip;
      delete heading.dataset.tip;
    }
    heading.append(button);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const first = kind === "number" ? "descending" : "ascending";
      const other = kind === "number" ? "ascending" : "descending";
      const now = before === first ? other : first;
      for (const each of headings) each.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", now);
      sort(table, column, kind, now === "ascending" ? 1 : -1);
    });
  });
}

// A field of CSV; plain figures rather than what is read.
function field(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The rows that are shown, in their order, as CSV with CRLF (RFC 4180).
function csv(table) {
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden && !row.classList.contains("more"));
  const headings = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const lines = rows.map((row) => [...row.cells].map((cell) => cell.dataset.value ?? ""));
  return [headings, ...lines].map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

// A button that saves the table as a file.
function saver(table, name) {
  return element(
    "button",
    {
      type: "button",
      onclick() {
        const address = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
        element("a", { href: address, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(address), 1000);
      },
    },
    "Save as CSV",
  );
}

mallard.table = { sortable, saver };
