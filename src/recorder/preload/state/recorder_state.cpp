#include "recorder/preload/state/recorder_state.hpp"

#include <algorithm>

#include "journal/spool/ring_record.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/clock.hpp"

namespace mallard::recorder {
namespace {

// Makes the compiler test again, as it must where a real call lies in between.
MALLARD_INLINE bool ask(bool timed) noexcept {
  asm volatile("" : "+r"(timed) : : "memory");
  return timed;
}

// One call around nothing.
MALLARD_NOINLINE timing_cost time_nothing(bool timed) noexcept {
  std::uint64_t entered = 0;
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
  std::uint64_t recorded = 0;
  if (ask(timed)) [[unlikely]]
    entered = clock_steps();
  if (ask(timed)) [[unlikely]]
    began = clock_steps();
  if (ask(timed)) [[unlikely]]
    ended = clock_steps();
  if (ask(timed)) [[unlikely]]
    recorded = clock_steps();
  return {.call = ended - began, .whole = recorded - entered};
}

}  // namespace

timing_cost find_timing_cost() noexcept {
  constexpr std::uint32_t rounds = 15;
  std::uint64_t calls[rounds];
  std::uint64_t wholes[rounds];
  std::uint32_t random = 1;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    random = random * 1664525 + 1013904223;
    const std::uint32_t chosen = random / 65536 % journal::timed_every;
    for (std::uint32_t i = 0; i < journal::timed_every; ++i) {
      const timing_cost cost = time_nothing(i == chosen);
      if (i != chosen) continue;
      calls[round] = cost.call;
      wholes[round] = cost.whole;
    }
  }
  std::nth_element(calls, calls + rounds / 2, calls + rounds);
  std::nth_element(wholes, wholes + rounds / 2, wholes + rounds);
  return {.call = calls[rounds / 2], .whole = wholes[rounds / 2]};
}

}  // namespace mallard::recorder
