"""Makes a C++ unit that keeps the compiler busy: the same text in every run."""

PART = """
struct key_{n} {{
  int first;
  long second;
  bool operator<(const key_{n}& o) const {{
    return first < o.first || (first == o.first && second < o.second);
  }}
}};
std::map<key_{n}, std::vector<std::string>> table_{n};
int fill_{n}(int count) {{
  for (int i = 0; i < count; ++i) table_{n}[key_{n}{{i % {modulus}, i}}].push_back(std::to_string(i * {n}));
  std::vector<key_{n}> keys;
  for (const auto& [key, values] : table_{n})
    if (values.size() > {least}) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return static_cast<int>(keys.size());
}}
"""


def text(parts: int) -> str:
    """Return the unit; each part instantiates a map, a vector and a sort of its own."""
    includes = "".join(f"#include <{name}>\n" for name in ("algorithm", "map", "string", "vector"))
    return includes + "".join(PART.format(n=n, modulus=7 + n % 5, least=n % 9) for n in range(parts))
