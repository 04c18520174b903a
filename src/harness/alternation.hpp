// alternate: allocators take turns, so that what disturbs the machine disturbs all of them.
//
//     round 1: A B C   round 2: A B C   ...   extra round: A C      (B's spread is narrow enough)
//
// Every allocator gets `least` rounds; then those whose spread still asks for it get more, up to
// `most`, and allocator 0, the one others are compared with inside a round, takes part in each.
// An allocator that cannot go on is left out from then on.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace mallard::harness {

struct round_limits {
  std::size_t least = 5;
  std::size_t most = 15;
};

enum class turn_result { go_on, leave_out, stop_all };

// measure(round, allocator) -> turn_result;  needs_more(allocator) -> bool, asked after each round
// from `least` on.
template <class Measure, class NeedsMore>
void alternate(std::size_t allocators, round_limits limits, Measure measure, NeedsMore needs_more) {
  std::vector<bool> in(allocators, true);
  for (std::size_t round = 0; round < limits.most; ++round) {
    std::vector<bool> wanted = in;
    if (round >= limits.least) {
      bool any = false;
      for (std::size_t c = 0; c < allocators; ++c) any |= wanted[c] = in[c] && needs_more(c);
      if (!any) return;
      wanted[0] = in[0];
    }
    for (std::size_t c = 0; c < allocators; ++c) {
      if (!wanted[c]) continue;
      switch (measure(round, c)) {
        case turn_result::go_on:
          break;
        case turn_result::leave_out:
          in[c] = false;
          break;
        case turn_result::stop_all:
          return;
      }
    }
  }
}

}  // namespace mallard::harness
