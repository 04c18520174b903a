// held_by: what a strategy of the replay holds for a trace, found in a process of its own.
//
//     footprint --> worker: one pass, every byte written --> most held, held after everything is freed
//
// Heaps and pmr resources are counted where they take memory, foreign mallocs by the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replay/trace/trace.hpp"

namespace mallard::footprint {

struct held_figures {
  std::uint64_t max_held = 0;    // bytes
  std::uint64_t held_after = 0;  // bytes
  std::string reason;            // why there are none; empty: there are
};

// Precondition: there is a strategy of this name.
[[nodiscard]] held_figures held_by(std::string_view strategy, const replay::trace& t);

}  // namespace mallard::footprint
