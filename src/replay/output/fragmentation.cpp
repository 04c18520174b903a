#include "replay/output/fragmentation.hpp"

#include <array>
#include <cstdio>

#include "harness/bytes.hpp"

namespace mallard::replay {
namespace {

constexpr const char* unknown = "-";

std::optional<double> ratio(std::uint64_t held, std::uint64_t live) {
  if (live == 0) return std::nullopt;
  return static_cast<double>(held) / static_cast<double>(live);
}

std::string two_decimals(const std::optional<double>& value) {
  if (!value) return unknown;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f", *value);
  return text.data();
}

std::string bytes(const std::optional<std::uint64_t>& value) {
  return value ? harness::format_bytes(*value) : unknown;
}

}  // namespace

fragmentation_measures measures_of(const curve_marks& marks, std::uint64_t max_live) {
  fragmentation_measures f;
  if (marks.mean_ratio != 0) f.mean = marks.mean_ratio;
  f.at_max_live = ratio(marks.held_at_max_live, max_live);
  f.at_max_held = ratio(marks.max_held, marks.live_at_max_held);
  f.max_to_max = ratio(marks.max_held, max_live);
  return f;
}

std::vector<std::vector<std::string>> fragmentation_table(const report_input& in) {
  std::vector<std::vector<std::string>> lines{{"held / live", "binding", "mean", "at max live", "at max held",
                                               "max / max", "internal", "header", "external"}};
  for (const row& r : in.rows) {
    if (!r.curve) continue;
    const fragmentation_measures f = measures_of(r.curve->marks, in.facts.max_live_bytes);
    lines.push_back({r.label(), std::string(name_of(r.of->bound)), two_decimals(f.mean),
                     two_decimals(f.at_max_live), two_decimals(f.at_max_held), two_decimals(f.max_to_max),
                     bytes(r.internal), bytes(r.header), bytes(r.external)});
  }
  return lines;
}

std::vector<std::string> walks_left_out(const report_input& in) {
  std::vector<std::string> lines;
  for (const row& r : in.rows) {
    if (!r.curve || r.curve->walks_left_out == 0) continue;
    lines.push_back("The curve of " + r.label() + " (" + std::string(name_of(r.of->bound)) + ") leaves out " +
                    std::to_string(r.curve->walks_left_out) + " walks: each would have been slow.");
  }
  return lines;
}

std::string curve_method(const report_input& in) {
  if (!in.options.curve) return "not drawn (--curve)";
  return "a pass of its own over what the program did, without the ends that it left out, every byte "
         "written; "
         "at most " +
         std::to_string(held_curve::most_points) +
         " points, each a stretch of operations with the lowest and the highest that was held in it. Held is "
         "counted as for the footprint, after each operation; of mallocs it is resident memory above the "
         "start, "
         "at each point by the page tables, in between only its peak, by the kernel's mark. Granted is "
         "walked "
         "for. Walks share 2 s of CPU time a strategy: what exceeds that is left out. The chunk cache gives "
         "nothing back by time";
}

}  // namespace mallard::replay
