// selection: what the user points at, and who wants to know of it.

mallard.selection = () => {
  const values = new Map();
  const listeners = new Map();
  return {
    get: (what) => values.get(what) ?? null,
    set(what, value) {
      values.set(what, value);
      for (const callback of listeners.get(what) ?? []) callback(value);
    },
    on(what, callback) {
      if (!listeners.has(what)) listeners.set(what, new Set());
      listeners.get(what).add(callback);
      return () => listeners.get(what).delete(callback);
    },
  };
};
