// findings_filter: buttons that show findings of some verdicts only; what holds any of them opens when not all do.

mallard.findings_filter = (bar) => {
  if (!bar) return;
  const buttons = [...bar.querySelectorAll("button")];
  const tables = [...document.querySelectorAll(".findings-of")];
  const apply = () => {
    const shown = new Set(buttons.filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.dataset.verdict));
    const some = shown.size < buttons.length;
    for (const table of tables) {
      const lines = [...table.querySelectorAll("li")];
      for (const line of lines) line.hidden = !shown.has(line.className);
      table.hidden = lines.every((line) => line.hidden);
      table.open = some && !table.hidden;
    }
    for (const run of document.querySelectorAll(".run-findings")) {
      run.hidden = [...run.querySelectorAll(".findings-of")].every((table) => table.hidden);
    }
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  bar.hidden = false;
};
