// clock_rate: how many ticks of the recorder's clock make a second.
//
// Two pairs (ticks, monotonic ns), one from the start and one from now; each is the tightest of a few
// tries, so that an interrupt between the two reads does no harm. Error: some 100 ns over the whole
// distance, which is 1 in 10000 after a millisecond.
#pragma once

#include <cstdint>

namespace mallard::recorder {

class clock_rate {
 public:
  clock_rate();

  // From the beginning to now.
  [[nodiscard]] double ticks_per_second() const;

  [[nodiscard]] std::uint64_t start_ticks() const noexcept { return begin_.ticks; }

 private:
  struct moment {
    std::uint64_t ticks;
    std::uint64_t ns;
  };
  static moment look();

  moment begin_;
};

}  // namespace mallard::recorder
