// replay_rows: the rows of mallard-replay's JSON, sorted out for drawing.
//
//     measured   fastest first; `none` is the floor that all times are net of, and no strategy
//     others     skipped, out of memory or failed: what is said instead of a figure

const floor_name = "none";

mallard.replay_rows = (replay) => {
  const named = replay.rows.map((row) => ({
    ...row,
    label: `${row.strategy} (${row.binding})`,
    repeated: row.strategy.endsWith(" a/a"),
  }));
  const is_measured = (row) => row.ns_per_event !== null;
  const measured = named
    .filter((row) => is_measured(row) && row.strategy !== floor_name)
    .sort((a, b) => a.ns_per_event - b.ns_per_event);
  return {
    measured,
    floor: named.find((row) => row.strategy === floor_name && is_measured(row)) ?? null,
    glibc: measured.find((row) => row.strategy === "glibc") ?? null,
    others: named.filter((row) => row.status !== "ok" || (row.strategy !== floor_name && !is_measured(row))),
  };
};

// What a row held at most, in parts of the most live bytes: live itself is 1.
mallard.footprint_of = ({ max_held, max_live, internal, header, external }) => {
  if (max_held === null || !max_live) return null;
  const share = (value) => value / max_live;
  const whole = share(max_held);
  if (internal === null) return { whole, live: Math.min(1, whole), internal: 0, header: 0, external: 0, unknown: Math.max(0, whole - 1) };
  const parts = { live: 1, internal: share(internal), header: share(header), external: share(external) };
  const at_peak = parts.live + parts.internal + parts.header + parts.external;
  return { whole, ...parts, unknown: Math.max(0, whole - at_peak) };
};
