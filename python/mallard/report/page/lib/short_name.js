// short_name: a C++ name without its template arguments and parameters, where there is little room.
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
