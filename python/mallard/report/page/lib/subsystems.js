// subsystems: a row of their table chooses one for the whole journal; choosing it again chooses none.

mallard.subsystems = {
  start(table, selection) {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      const index = Number(row.dataset.subsystem);
      const swatch = row.querySelector(".named");
      const button = mallard.element("button", { type: "button", class: "named", "aria-pressed": "false" }, ...swatch.childNodes);
      swatch.replaceWith(button);
      button.addEventListener("click", () => selection.set("subsystem", selection.get("subsystem") === index ? null : index));
    }
    selection.on("subsystem", (chosen) => {
      for (const row of rows) {
        const is_chosen = Number(row.dataset.subsystem) === chosen;
        row.classList.toggle("chosen", is_chosen);
        row.querySelector("button").setAttribute("aria-pressed", String(is_chosen));
      }
    });
  },
};
