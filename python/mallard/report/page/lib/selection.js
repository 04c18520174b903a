// selection: what the user points at, and which parts of the page want to know.
//
// A chart that is drawn anew asks for its part anew, and what it asked to hear before is forgotten.

mallard.selection = () => {
  const values = new Map();
  const listeners = []; // {owner, what, callback}
  const of = (owner) => ({
    get: (what) => values.get(what) ?? null,
    set(what, value) {
      values.set(what, value);
      for (const each of listeners.filter((one) => one.what === what)) each.callback(value);
    },
    // Returns what forgets it again.
    on(what, callback) {
      const one = { owner, what, callback };
      listeners.push(one);
      return () => listeners.splice(0, Infinity, ...listeners.filter((other) => other !== one));
    },
  });
  return {
    ...of(null),
    of_chart(owner) {
      listeners.splice(0, Infinity, ...listeners.filter((one) => one.owner !== owner));
      return of(owner);
    },
  };
};
