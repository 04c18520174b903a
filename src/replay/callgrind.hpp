// Instructions of one warm pass, counted by valgrind's callgrind: a figure that does not depend on
// what else the machine does.
#pragma once

#include <optional>
#include <string>

#include "harness/launcher.hpp"

namespace mallard::replay {

// Path of valgrind; empty if it is not installed.
[[nodiscard]] std::string valgrind_path();

// The same worker under callgrind, counting inside counted_call only.
[[nodiscard]] harness::launch_plan under_callgrind(harness::launch_plan plan);

// The count in callgrind's last line, "==17== Collected : 1234"; nothing if it is another line.
[[nodiscard]] std::optional<double> instructions_in(const std::string& last_line);

}  // namespace mallard::replay
