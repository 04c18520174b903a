// tip: explains what is pointed at or focused, from its `data-tip`. Escape puts it away.

const { element } = mallard;
const tip = element("div", { id: "tip", role: "tooltip", hidden: true });
const gap = 6;

let shown = null;
let pointer = null; // where it was seen last

function hide() {
  shown?.removeAttribute("aria-describedby");
  shown = null;
  tip.hidden = true;
}

function show(target) {
  hide();
  shown = target;
  tip.textContent = target.dataset.tip;
  tip.hidden = false;
  target.setAttribute("aria-describedby", "tip");
  const place = target.getBoundingClientRect();
  const left = Math.min(place.left, innerWidth - tip.offsetWidth - gap);
  const below = place.bottom + gap;
  const above = place.top - tip.offsetHeight - gap;
  tip.style.left = `${Math.max(gap, left)}px`;
  tip.style.top = `${below + tip.offsetHeight > innerHeight && above > 0 ? above : below}px`;
}

function follow(event) {
  const target = event.target.closest?.("[data-tip]");
  if (target) show(target);
  else if (event.target !== tip) hide();
}

// What is focused keeps its tip where the page scrolls to it ...
function scrolled() {
  if (shown && shown === document.activeElement) show(shown);
  else hide();
}

// ... and something else comes below a pointer that has not moved.
function pointed(event) {
  const before = pointer;
  pointer = `${event.clientX} ${event.clientY}`;
  const moved = before !== null && pointer !== before;
  if (moved || shown !== document.activeElement) follow(event);
}

mallard.tip = {
  start() {
    document.body.append(tip);
    document.addEventListener("mouseover", pointed);
    document.addEventListener("focusin", follow);
    document.addEventListener("focusout", hide);
    document.addEventListener("scroll", scrolled, { capture: true, passive: true });
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  },
};
