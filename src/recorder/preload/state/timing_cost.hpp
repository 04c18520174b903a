// timing_cost: what timing adds to the timed call.
//
//     63 calls not timed, 1 timed, 63 not timed ...      as stopwatch does it, around nothing
//
// Reading the clock takes time, and so does a branch that is mispredicted once in 64: together as much as a
// fast malloc. It is subtracted, so that neither allocation nor recording seems more expensive than it is.
#pragma once

#include <cstdint>

namespace mallard::recorder {

struct timing_cost {
  std::uint64_t call = 0;   // clock steps between the readings around the real call
  std::uint64_t whole = 0;  // from the first reading to the last, those around the real call included
};

// The median of a few; some 3 us.
[[nodiscard]] timing_cost find_timing_cost() noexcept;

}  // namespace mallard::recorder
