// flame_painter: rows of cells on a canvas inside a box that scrolls; only rows in sight are painted.
//
//     box (scrolls) > spacer (as high as all rows) > canvas (as high as the box, stays in sight)
//
// plotly's icicle of 20,000 nodes takes 43 s to appear; this takes some milliseconds a picture.

const row_height = 19;
const least_text_width = 26;
const most_height = 560;

mallard.flame_painter = (label, style_of, names_of) => {
  const { element } = mallard;
  const canvas = element("canvas", { "aria-hidden": "true" });
  const spacer = element("div", { class: "flame-spacer" }, canvas);
  const box = element("div", { class: "flame-box", tabindex: "0", role: "application", "aria-label": label }, spacer);
  const pen = canvas.getContext("2d");
  let rows = [];
  let height = 0; // of the box: it never shrinks, so that what is below stays where it is
  let pending = false;

  function fitted(text, short, room) {
    for (const candidate of [text, short]) if (pen.measureText(candidate).width <= room) return candidate;
    let [fits, fails] = [0, short.length];
    while (fits + 1 < fails) {
      const middle = (fits + fails) >> 1;
      if (pen.measureText(`${short.slice(0, middle)}…`).width <= room) fits = middle;
      else fails = middle;
    }
    return fits < 2 ? "" : `${short.slice(0, fits)}…`;
  }

  function paint_cell({ node, from, to }, { fill, outline }, top, width) {
    const x = from * width;
    const cell = (to - from) * width;
    pen.fillStyle = fill;
    pen.fillRect(x, top, cell > 3 ? cell - 1 : Math.max(0.5, cell), row_height - 1);
    if (outline) {
      pen.strokeStyle = outline;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, top + 1, Math.max(1, cell - 3), row_height - 3);
    }
    if (cell < least_text_width) return;
    const [text, short] = names_of(node);
    pen.fillStyle = mallard.text_on(fill);
    pen.fillText(fitted(text, short, cell - 8), x + 4, top + row_height / 2);
  }

  function paint() {
    pending = false;
    const width = spacer.clientWidth;
    const scale = window.devicePixelRatio;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = `12px ${getComputedStyle(box).fontFamily}`;
    pen.textBaseline = "middle";
    const first = Math.floor(box.scrollTop / row_height);
    const last = Math.min(rows.length - 1, Math.floor((box.scrollTop + height) / row_height));
    for (let row = first; row <= last; row += 1) {
      let seen = -1; // cells that end within the same half pixel as the one before are not seen
      for (const cell of rows[row]) {
        const style = style_of(cell.node);
        const end = Math.floor(cell.to * width * 2);
        if (end > seen || style.outline) paint_cell(cell, style, row * row_height - box.scrollTop, width);
        seen = end;
      }
    }
  }

  function repaint() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(paint);
  }

  // The node at a place in the window; null where there is none.
  function node_at(x, y) {
    const frame = canvas.getBoundingClientRect();
    const row = rows[Math.floor((y - frame.top + box.scrollTop) / row_height)] ?? [];
    const at = (x - frame.left) / frame.width;
    return row.find(({ from, to }) => from <= at && at < to)?.node ?? null;
  }

  function row_of(node) {
    return rows.findIndex((row) => row.some((cell) => cell.node === node));
  }

  // Where a node is in the window; it is scrolled into sight first.
  function place_of(node) {
    const row = row_of(node);
    if (row < 0) return null;
    const top = row * row_height;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + row_height > box.scrollTop + height) box.scrollTop = top + row_height - height;
    const { from, to } = rows[row].find((cell) => cell.node === node);
    const frame = canvas.getBoundingClientRect();
    return { x: frame.left + ((from + Math.min(to, from + 0.2)) / 2) * frame.width, y: frame.top + top + row_height - box.scrollTop };
  }

  function show(new_rows, focused) {
    rows = new_rows;
    height = Math.max(height, Math.min(most_height, rows.length * row_height));
    spacer.style.height = `${Math.max(height, rows.length * row_height)}px`;
    box.style.height = `${height + 2}px`;
    box.scrollTop = Math.max(0, (row_of(focused) - 2) * row_height);
    repaint();
  }

  box.addEventListener("scroll", repaint);
  new ResizeObserver(repaint).observe(spacer);
  return { box, show, repaint, node_at, place_of };
};
