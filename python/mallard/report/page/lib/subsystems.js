// subsystems: their colours and names, the same in every chart, and the choice of one by a row of their table.

mallard.subsystem_colour = (theme) => (index) => theme.series[index % theme.series.length];

// The number and the name, no longer than there is room for. The name is short already, and what it says
// behind a function ("called by ...") tells it from others.
mallard.subsystem_name = ({ subsystems }, index, most = 200) => {
  const { name } = subsystems[index];
  return `${index + 1} ${name.length > most ? `${name.slice(0, most - 1)}…` : name}`;
};

// A row chooses its subsystem for the whole journal; choosing it again chooses none.
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
