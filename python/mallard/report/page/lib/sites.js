// sites: the table of calling contexts. It sorts, is filtered by words and by subsystem, and each row opens
// to show its whole stack and how its objects live. And the short names of functions, for all that draws them.

const { element, format } = mallard;

// A C++ name without its template arguments and parameters, where there is little room.
//
//     std::vector<int, std::allocator<int> >::push_back(int const&)  ->  std::vector::push_back
//
// Names of operators stay whole; that a namespace has no name says nothing.

const whole = /^(?:operator(?:\(\)|<=>|<<=?|>>=?|->\*?|<=?|>=?)|\{lambda\(\)|<lambda)/;

mallard.short_name = (full) => {
  const name = full.replaceAll("(anonymous namespace)::", "");
  let short = "";
  let depth = 0;
  for (let at = 0; at < name.length; at += 1) {
    const kept = whole.exec(name.slice(at, at + 24));
    if (kept && (kept[0][0] !== "o" || !/\w/.test(name[at - 1] ?? " "))) {
      if (depth === 0) short += kept[0];
      at += kept[0].length - 1;
      continue;
    }
    const character = name[at];
    if (character === "<" || character === "(") depth += 1;
    else if (character === ">" || character === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0) short += character;
  }
  short = short.replace(/ const$/, "").replaceAll(" ::", "::").trim();
  return short === "" ? name : short;
};

const part = (of, whole) => (whole ? of / whole : null);

const place = (frame) => (frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ""}` : "");

const unnamed = /\+0x[0-9a-f]+$/;

// Where a site is: file and line, else the nearest caller that has a name, else the module.
function whereabouts(site) {
  const frame = site.stack[site.frame];
  if (!frame) return "";
  const caller = unnamed.test(frame.function) && site.stack.slice(site.frame).find((each) => !unnamed.test(each.function));
  return place(frame) || (caller ? `below ${mallard.short_name(caller.function)}` : frame.module);
}

function mostly(free_order, allocations) {
  const ways = {
    "one by one": free_order.one_by_one,
    "last in, first out": free_order.lifo,
    "all together": free_order.together,
    "by realloc": free_order.reallocated,
    never: free_order.never,
  };
  const [way, many] = Object.entries(ways).reduce((most, each) => (each[1] > most[1] ? each : most));
  return `${way} ${format.share(part(many, allocations))}`;
}

// Heading, kind, plain figure of a site's behaviour, how it is written, what it means, whether its bar is shown.
const columns = [
  ["Calls", "number", (b) => b.allocations, format.count, "Allocations.", true],
  ["Bytes", "number", (b) => b.bytes, format.bytes, "Allocated in all.", true],
  ["At peak", "number", (b) => b.live_at_peak_bytes, format.bytes, "Live at the program's peak.", true],
  ["Max live", "number", (b) => b.max_live_bytes, format.bytes, "Its own most live bytes."],
  ["Size", "number", (b) => b.sizes.p50, format.bytes, "Median requested size."],
  ["Lifetime", "number", (b) => b.lifetime_ns?.p50 ?? null, format.ns, "Median, of objects that ended."],
  ["Lifetime, events", "number", (b) => b.lifetime_events?.p50 ?? null, format.count, "Median lifetime in events."],
  ["Temporary", "number", (b) => part(b.temporaries.few, b.allocations), format.share, "Objects freed soon: see Method."],
  ["Alive at exit", "number", (b) => b.leaked_bytes, format.bytes, "Never freed.", true],
  ["Never freed", "number", (b) => b.free_order.never, format.count, "Objects still live at the end."],
  ["Cross-thread frees", "number", (b) => part(b.foreign_frees, b.allocations), format.share, "Objects that another thread frees."],
  ["Freed, mostly", "text", (b) => mostly(b.free_order, b.allocations), (text) => text, "How most objects end."],
];

function stack_of(site) {
  const rows = site.stack.map((frame) =>
    element(
      "li",
      { class: frame.inlined ? "inlined" : null },
      element("span", { class: "function" }, frame.function || "?"),
      frame.inlined ? element("span", { class: "mark" }, "inlined") : null,
      element("span", { class: "place" }, place(frame) || frame.module),
    ),
  );
  return element("ol", { class: "stack" }, ...rows);
}

function threads(counts, data) {
  const name = (thread) => data.profile.threads[thread]?.name || `thread ${thread}`;
  return counts.map((each) => `${name(each.thread)} ${format.count(each.objects)}`).join(", ") || format.unknown;
}

function facts_of(site, data) {
  const b = site.behaviour;
  const { few_limit, short_ns } = data.profile;
  const spread = (s, write) => (s ? `${write(s.min)} · ${write(s.p50)} · ${write(s.p90)} · ${write(s.p99)} · ${write(s.max)}` : format.unknown);
  const sizes = Object.entries(b.size_histogram).sort((one, other) => other[1] - one[1]);
  const classes = sizes.slice(0, 8).map(([size, many]) => `≤ ${format.bytes(Number(size))}: ${format.count(many)}`);
  const facts = {
    "Size: min · median · p90 · p99 · max": spread(b.sizes, format.bytes),
    "Lifetime, time": spread(b.lifetime_ns, format.ns),
    "Lifetime, events": spread(b.lifetime_events, format.count),
    "Size classes, most first": classes.join(", ") + (sizes.length > 8 ? ` and ${sizes.length - 8} more` : ""),
    Temporaries: `${format.count(b.temporaries.last)} the very last allocation, ${format.count(b.temporaries.few)} at most ${few_limit} others between, ${format.count(b.temporaries.short)} shorter than ${format.ns(short_ns)}`,
    Ends: `${format.count(b.free_order.one_by_one)} one by one, ${format.count(b.free_order.lifo)} last in first out, ${format.count(b.free_order.together)} all together, ${format.count(b.free_order.reallocated)} by realloc, ${format.count(b.free_order.never)} never`,
    Reallocations: `${format.count(b.reallocations.in_place)} in place, ${format.count(b.reallocations.moved)} moved, longest chain ${format.count(b.reallocations.longest_chain)}`,
    "Allocated by": threads(b.allocating_threads, data),
    "Freed by": threads(b.freeing_threads, data),
    "Most live": `${format.bytes(b.max_live_bytes)} in ${format.count(b.max_live_objects)} objects`,
  };
  const pairs = Object.entries(facts).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return element("dl", { class: "site-facts" }, ...pairs);
}

function row_of(site, index, most, data, selection) {
  const owner = data.profile.subsystems[site.subsystem];
  const where = whereabouts(site);
  const opener = element(
    "button",
    { type: "button", class: "opener", "aria-expanded": "false", "data-tip": site.name },
    element("span", { class: "function" }, mallard.short_name(site.name)),
  );
  const cells = columns.map(([, kind, value, write, , bar], column) => {
    const plain = value(site.behaviour);
    const cell = element("td", { class: kind === "number" ? "number" : null, "data-value": plain }, write(plain));
    if (bar && most[column]) cell.style.setProperty("--share", `${(100 * plain) / most[column]}%`);
    if (bar) cell.classList.add("bar");
    return cell;
  });
  const to_call_tree = ({ stack }) => element("button", { type: "button", onclick: () => selection.set("stack", stack) }, "Show in the call tree");
  const row = element(
    "tr",
    { "data-site": index },
    element("td", { class: "name", "data-value": site.name }, opener, where ? element("span", { class: "place" }, where) : null),
    element(
      "td",
      { "data-value": site.subsystem, class: "of" },
      owner ? element("span", { class: "swatch", style: `--colour: var(--series-${(site.subsystem % 12) + 1})` }) : null,
      owner ? String(site.subsystem + 1) : format.unknown,
    ),
    ...cells,
  );
  if (owner) row.cells[1].dataset.tip = owner.name;
  opener.addEventListener("click", () => {
    const open = opener.getAttribute("aria-expanded") === "true";
    opener.setAttribute("aria-expanded", String(!open));
    if (open) row.nextElementSibling.remove();
    else row.after(element("tr", { class: "more" }, element("td", { colspan: columns.length + 2 }, element("div", {}, element("div", {}, stack_of(site), to_call_tree(site)), facts_of(site, data)))));
  });
  return row;
}

const text_of = (site) =>
  [site.name, ...site.stack.flatMap((frame) => [frame.function, frame.module, place(frame)])].join("\n").toLowerCase();

function table_of(data, rows) {
  const heading = ([name, kind, , , tip]) => element("th", { scope: "col", "data-sort": kind, "data-tip": tip }, name);
  const first = [
    ["Site", "text", null, null, "The innermost function that is no allocator's wrapper; open a row for its stack."],
    ["Sub.", "number", null, null, "Number of its subsystem."],
  ];
  return element(
    "table",
    { class: "sites" },
    element("thead", {}, element("tr", {}, ...[...first, ...columns].map(heading))),
    element("tbody", {}, ...rows),
  );
}

function chooser(data, changed) {
  const options = data.profile.subsystems.map((one, index) => element("option", { value: index }, `${index + 1} ${one.name.slice(0, 60)}`));
  return element("select", { "aria-label": "Subsystem", onchange: changed }, element("option", { value: "" }, "all subsystems"), ...options);
}

mallard.sites = {
  draw(container, data, selection) {
    const { sites, sites_total, totals } = data.profile;
    const most = columns.map(([, kind, value]) => (kind === "number" ? Math.max(...sites.map((site) => value(site.behaviour) ?? 0)) : 0));
    const rows = sites.map((site, index) => row_of(site, index, most, data, selection));
    const texts = sites.map(text_of);
    const table = table_of(data, rows);
    const words = element("input", { type: "search", placeholder: "function, file or module", "aria-label": "Filter sites", oninput: () => filter() });
    const status = element("output", { class: "note" });
    const choice = chooser(data, () => selection.set("subsystem", choice.value === "" ? null : Number(choice.value)));

    function filter() {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      const subsystem = choice.value === "" ? null : Number(choice.value);
      let shown = 0;
      let calls = 0;
      sites.forEach((site, index) => {
        const fits = (subsystem === null || site.subsystem === subsystem) && wanted.every((word) => texts[index].includes(word));
        const row = rows[index];
        row.hidden = !fits;
        if (row.nextElementSibling?.classList.contains("more")) row.nextElementSibling.hidden = !fits;
        shown += fits;
        calls += fits ? site.behaviour.allocations : 0;
      });
      status.textContent = `${format.count(shown)} of ${format.count(sites_total)} sites, ${format.share(part(calls, totals.allocations))} of calls`;
    }

    selection.on("subsystem", (index) => {
      choice.value = index === null ? "" : String(index);
      filter();
    });
    selection.on("site", (index) => {
      if (index === null) return;
      words.value = "";
      choice.value = "";
      filter();
      rows[index].scrollIntoView({ block: "center" });
      rows[index].querySelector(".opener").focus();
    });
    mallard.table.sortable(table);
    filter();
    container.append(
      element("div", { class: "tools" }, words, choice, mallard.table.saver(table, "sites.csv"), status),
      element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Sites" }, table),
    );
    if (sites_total > sites.length) {
      container.append(element("p", { class: "note" }, `The ${format.count(sites.length)} largest sites are here; --sites gives more.`));
    }
  },
};
