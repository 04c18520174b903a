#include "recorder/launcher/clock_rate.hpp"

#include <ctime>

#include "recorder/clock.hpp"

namespace mallard::recorder {

clock_rate::clock_rate() : begin_(look()) {}

clock_rate::moment clock_rate::look() {
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

double clock_rate::ticks_per_second() const {
  moment now = look();
  while (now.ns <= begin_.ns || now.ticks <= begin_.ticks) now = look();
  return static_cast<double>(now.ticks - begin_.ticks) * 1e9 / static_cast<double>(now.ns - begin_.ns);
}

}  // namespace mallard::recorder
