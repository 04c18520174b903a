// class_peaks<Classes>: what a heap with these size classes holds if it loses nothing, and what it rounds up.
//
//     class   48: ####------####      peak 4 blocks  --+
//     class 4096: --##------          peak 2 blocks  --+--> sum()
//     passed through: ---#####-       peak of bytes  --+
//
// Memory of one class never serves another: once a class has had its peak, that is held. What passes through
// to the source goes back to it, so a heap holds less than the sum where its peak is before the others.
// Blocks count as granted, without headers.
// Invariant: each peak is at least what is alive. Cost: O(1) an operation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace mallard::footprint {

// Bytes of some blocks: as asked for, and as received.
struct tally {
  std::size_t requested = 0;
  std::size_t granted = 0;
};

template <class Classes>
class class_peaks {
 public:
  // A block begins.
  void begin(std::size_t size, std::size_t align) noexcept {
    const tally block = block_of(size, align);
    pool& p = pools_[pool_of(size, align)];
    add(p.now, block);
    add(live_, block);
    if (p.now.granted > p.peak.granted) {
      sum_.granted += p.now.granted - p.peak.granted;
      sum_.requested += p.now.requested - p.peak.requested;
      p.peak = p.now;
    }
    if (live_.requested > at_max_live_.requested) at_max_live_ = live_;
    passed_through_ += static_cast<std::size_t>(!Classes::serves(size, align));
  }

  void end(std::size_t size, std::size_t align) noexcept {
    const tally block = block_of(size, align);
    subtract(pools_[pool_of(size, align)].now, block);
    subtract(live_, block);
  }

  [[nodiscard]] tally live() const noexcept { return live_; }
  [[nodiscard]] tally at_max_live() const noexcept { return at_max_live_; }

  // Of all peaks together, each with what was requested then.
  [[nodiscard]] tally sum() const noexcept { return sum_; }
  [[nodiscard]] std::size_t passed_peak() const noexcept { return pools_[Classes::count].peak.granted; }

  // Blocks that passed through, ended ones included.
  [[nodiscard]] std::size_t passed_through() const noexcept { return passed_through_; }

  // Classes that ever had a block.
  [[nodiscard]] std::size_t used() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(pools_.begin(), pools_.end() - 1, [](const pool& p) { return p.peak.granted != 0; }));
  }

 private:
  struct pool {
    tally now;
    tally peak;
  };

  static void add(tally& to, const tally& block) noexcept {
    to.requested += block.requested;
    to.granted += block.granted;
  }
  static void subtract(tally& from, const tally& block) noexcept {
    from.requested -= block.requested;
    from.granted -= block.granted;
  }

  // A request for nothing is served as one for a byte.
  static tally block_of(std::size_t size, std::size_t align) noexcept {
    const std::size_t asked = std::max<std::size_t>(size, 1);
    return {asked, Classes::serves(size, align) ? Classes::size(Classes::index(size, align)) : asked};
  }
  static std::size_t pool_of(std::size_t size, std::size_t align) noexcept {
    return Classes::serves(size, align) ? Classes::index(size, align) : Classes::count;
  }

  std::array<pool, Classes::count + 1> pools_{};  // the last one passes through
  tally live_;
  tally at_max_live_;
  tally sum_;
  std::size_t passed_through_ = 0;
};

}  // namespace mallard::footprint
