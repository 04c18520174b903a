// counters: the current, peak and total amount of something, and the counter that keeps them.
//
//     add(5)  add(3)  remove(5)      live = 3   peak = 8   total = 8
//
// A counter is for one thread at a time or, if `Shared`, for many: each figure is then exact once the threads
// are quiet, while a read in between may mix values of different moments. Invariant: live <= peak <= total.
// Cost: three additions; three atomic ones if shared.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "mallard/core/version.hpp"

namespace mallard {

struct counters {
  std::size_t live = 0;
  std::size_t peak = 0;   // since the last reset of the peak
  std::size_t total = 0;  // ever added

  friend constexpr bool operator==(const counters&, const counters&) = default;
};

// A number that one thread at a time changes or, if `Shared`, many at once.
template <bool Shared>
using number = std::conditional_t<Shared, std::atomic<std::size_t>, std::size_t>;

template <bool Shared = false>
class counter {
 public:
  void add(std::size_t n) noexcept {
    total_ += n;
    raise_peak(live_ += n);
  }

  void remove(std::size_t n) noexcept { live_ -= n; }

  // Records that an amount `from` became `to`.
  void change(std::size_t from, std::size_t to) noexcept { from < to ? add(to - from) : remove(from - to); }

  // Removes everything that was added.
  void remove_all() noexcept { live_ = 0; }

  void reset_peak() noexcept { peak_ = known(live_); }

  // More removed than added reads as nothing left.
  [[nodiscard]] counters read() const noexcept { return {known(live_), peak_, total_}; }

 private:
  static std::size_t known(std::size_t live) noexcept {
    return static_cast<std::ptrdiff_t>(live) < 0 ? 0 : live;
  }

  void raise_peak(std::size_t live) noexcept {
    live = known(live);
    if constexpr (Shared) {
      std::size_t seen = peak_;
      while (seen < live && !peak_.compare_exchange_weak(seen, live)) {
      }
    } else {
      peak_ = std::max(peak_, live);
    }
  }

  number<Shared> live_ = 0;
  number<Shared> peak_ = 0;
  number<Shared> total_ = 0;
};

}  // namespace mallard
