// tooltip: a box beside the pointer, or beside what the keyboard points at. It stays inside the window.

const gap = 14;

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
