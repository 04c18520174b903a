// tabs: one journal at a time. Arrow keys, Home and End go from tab to tab; links into a journal show it.

function neighbour(key, at, count) {
  if (key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowLeft") return (at + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

mallard.tabs = {
  // `shown` is called with the number of each journal that is shown.
  start(list, panels, shown) {
    const buttons = list ? [...list.querySelectorAll("[role=tab]")] : [];
    const show = (wanted) => {
      buttons.forEach((button, number) => {
        button.setAttribute("aria-selected", String(number === wanted));
        button.tabIndex = number === wanted ? 0 : -1;
      });
      panels.forEach((panel, number) => {
        panel.hidden = number !== wanted;
      });
      return shown(wanted);
    };
    const linked = () => {
      const target = document.getElementById(location.hash.slice(1));
      const number = panels.findIndex((panel) => target && panel.contains(target));
      if (number >= 0 && panels[number].hidden) {
        show(number);
        target.scrollIntoView();
      }
      return number;
    };
    if (list) list.hidden = false;
    buttons.forEach((button, number) => {
      button.addEventListener("click", () => show(number));
      button.addEventListener("keydown", (event) => {
        const next = neighbour(event.key, number, buttons.length);
        if (next === null) return;
        event.preventDefault();
        buttons[next].focus();
        show(next);
      });
    });
    addEventListener("hashchange", linked);
    const target = document.getElementById(location.hash.slice(1));
    return show(Math.max(0, panels.findIndex((panel) => target && panel.contains(target))));
  },
};
