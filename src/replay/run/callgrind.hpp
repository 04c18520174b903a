// callgrind: instructions of one warm pass, counted by valgrind: a figure that does not depend on what else
// the machine does.
//
//     tool                            worker, below valgrind
//     under_callgrind(plan) -------> ... counted_call(pass) ...      counts from its entry to its return
//     instructions_in(last line) <--
#pragma once

#include <optional>
#include <string>

#include "harness/launcher.hpp"

// What callgrind knows by name; counted_call is its face.
extern "C" void mallard_replay_counted(void (*call)(void*), void* argument);

namespace mallard::replay {

// Path of valgrind; empty if it is not installed.
[[nodiscard]] std::string valgrind_path();

// The same worker under callgrind, counting inside counted_call only.
[[nodiscard]] harness::launch_plan under_callgrind(harness::launch_plan plan);

// Calls something where callgrind counts.
template <class F>
void counted_call(F f) {
  mallard_replay_counted([](void* argument) { (*static_cast<F*>(argument))(); }, &f);
}

// The count in callgrind's last line, "==17== Collected : 1234"; nothing if it is another line.
[[nodiscard]] std::optional<double> instructions_in(const std::string& last_line);

}  // namespace mallard::replay
