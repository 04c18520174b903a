// The recorder's clock: a counter that costs a few ns to read and runs alike on every core.
//
// One tick is sixteen of the counter's, 4 to 8 ns: less than reading it takes, and a byte of difference
// holds most times between two events. How long a call takes is measured in the counter's own steps.
// The program stamps events with ticks(); the launcher reads the same counter beside the system's
// monotonic clock and so finds the ticks a second. On x86-64 it is the time-stamp counter; elsewhere
// the monotonic clock itself, in ns.
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <time.h>
#endif

namespace mallard::recorder {

#if defined(__x86_64__)
inline constexpr std::uint64_t steps_per_tick = 16;
#else
inline constexpr std::uint64_t steps_per_tick = 1;
#endif

[[nodiscard]] inline std::uint64_t clock_steps() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

[[nodiscard]] inline std::uint64_t ticks() noexcept { return clock_steps() / steps_per_tick; }

}  // namespace mallard::recorder
