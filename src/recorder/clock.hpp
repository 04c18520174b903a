// The clocks of the recorder: its own, how fast that runs, and the CPU time of a process.
//
// Its own is a counter that costs a few ns to read and runs alike on every core.
//
// One tick is sixteen of the counter's, 4 to 8 ns: less than reading it takes, and a byte of difference
// holds most times between two events. How long a call takes is measured in the counter's own steps.
// The program stamps events with ticks(); the launcher reads the same counter beside the system's
// monotonic clock and so finds the ticks a second. On x86-64 it is the time-stamp counter; elsewhere
// the monotonic clock itself, in ns.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <ctime>

namespace mallard::recorder {

#if defined(__x86_64__)
inline constexpr std::uint64_t steps_per_tick = 16;
#else
inline constexpr std::uint64_t steps_per_tick = 1;
#endif

[[nodiscard]] inline std::uint64_t ns_of(const timespec& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

[[nodiscard]] inline std::uint64_t clock_steps() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ns_of(now);
#endif
}

[[nodiscard]] inline std::uint64_t ticks() noexcept { return clock_steps() / steps_per_tick; }

// The CPU time of a process without its children; 0 means the calling one. The result is 0 if the process is
// gone; one that has ended is gone only after it has been waited for.
[[nodiscard]] inline std::uint64_t cpu_ns_of(pid_t process) noexcept {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return ns_of(used);
}

// clock_rate: how many ticks of the recorder's clock make a second.
//
// Two pairs (ticks, monotonic ns), one from the start and one from now; each is the tightest of a few
// tries, so that an interrupt between the two reads does no harm. Error: some 100 ns over the whole
// distance, which is 1 in 10000 after a millisecond.
class clock_rate {
 public:
  // From the beginning to now.
  [[nodiscard]] double ticks_per_second() const {
    moment now = look();
    while (now.ns <= begin_.ns || now.ticks <= begin_.ticks) now = look();
    return static_cast<double>(now.ticks - begin_.ticks) * 1e9 / static_cast<double>(now.ns - begin_.ns);
  }

  [[nodiscard]] std::uint64_t start_ticks() const noexcept { return begin_.ticks; }

 private:
  struct moment {
    std::uint64_t ticks;
    std::uint64_t ns;
  };
  static moment look() {
    constexpr int tries = 8;
    moment best{};
    std::uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < tries; ++i) {
      const std::uint64_t before = ticks();
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      const std::uint64_t width = ticks() - before;
      if (width >= tightest) continue;
      tightest = width;
      best = {before + width / 2, ns_of(now)};
    }
    return best;
  }

  moment begin_ = look();
};

}  // namespace mallard::recorder
