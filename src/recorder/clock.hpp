// The recorder's clock: a counter that costs a few ns to read and runs alike on every core.
//
// The program stamps events with ticks(); the launcher reads the same counter beside the system's
// monotonic clock and so finds the ticks a second. On x86-64 it is the time-stamp counter; elsewhere
// the monotonic clock itself, in ns.
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <time.h>
#endif

namespace mallard::recorder {

[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

}  // namespace mallard::recorder
