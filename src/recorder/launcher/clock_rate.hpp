// clock_rate: how many ticks of the recorder's clock make a second.
//
// Two pairs (ticks, monotonic ns), one from the start and one from now; each is the tightest of a few
// tries, so that an interrupt between the two reads does no harm. Error: some 100 ns over the whole
// distance, which is 1 in 10000 after a millisecond.
#pragma once

#include <cstdint>
#include <ctime>

#include "recorder/clock.hpp"

namespace mallard::recorder {

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
