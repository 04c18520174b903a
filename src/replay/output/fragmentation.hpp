// fragmentation: the four measures of Johnstone and Wilson, and what a report says of curves beside them.
//
//     held |     3___          1  mean           held / live, over all operations
//          |   2/\   \         2  at max live    held / live, at the moment of most live
//     live |   /  \_  \_       3  at max held    held / live, at the moment of most held
//          |  /     \___       4  max / max      most held / most live: F
//
// "The Memory Fragmentation Problem: Solved?" (1998), the section on measuring fragmentation; there in
// percent above 1. (1) hides spikes, (2) leaves out what a program frees later, (3) is high where little is
// live, (4) is what has to be paid for. docs/replaying.md has the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/output/report.hpp"
#include "replay/run/held_curve.hpp"

namespace mallard::replay {

// Absent where nothing is live.
struct fragmentation_measures {
  std::optional<double> mean;
  std::optional<double> at_max_live;
  std::optional<double> at_max_held;
  std::optional<double> max_to_max;
};

[[nodiscard]] fragmentation_measures measures_of(const curve_marks& marks, std::uint64_t max_live);

// Lines of cells, the headings first: of each row that has a curve, the measures and what they consist of at
// the moment of most live bytes.
[[nodiscard]] std::vector<std::vector<std::string>> fragmentation_table(const report_input& in);

// A line for each row whose curve leaves out walks, as they are slow.
[[nodiscard]] std::vector<std::string> walks_left_out(const report_input& in);

// How curves are drawn.
[[nodiscard]] std::string curve_method(const report_input& in);

}  // namespace mallard::replay
