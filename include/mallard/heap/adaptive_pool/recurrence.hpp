// recurrence: how much of the memory that is given back will be wanted again, as it was before.
//
//     given back   [ as much as came again before: kept | the rest: to the system ]
//     taken        out of what is kept; what had gone to the system and is wanted again will be kept next
//     time
//
// Memory that goes to the system costs a fault for each of its pages when it is wanted again, and memory that
// is kept is nobody else's. Whether it will be wanted again, nobody knows; that it was is the best sign there
// is. So a peak that comes once leaves nothing, and one that comes again and again is given back once.
// Figures are bytes; nothing is remembered of single blocks. Invariant: no more is kept than came again.
// Cost: a few instructions. Seed 001, chapter 3 ("Managing blocks").
#pragma once

#include <algorithm>
#include <cstddef>

namespace mallard {

class recurrence {
 public:
  // So much is given back: whether it shall be kept.
  [[nodiscard]] bool keeps(std::size_t bytes) noexcept {
    if (bytes > recurring_ - kept_) {
      gone_ += bytes;
      return false;
    }
    kept_ += bytes;
    return true;
  }

  // So much is taken.
  void take(std::size_t bytes) noexcept {
    const std::size_t of_kept = std::min(bytes, kept_);
    const std::size_t of_gone = std::min(bytes - of_kept, gone_);
    kept_ -= of_kept;
    gone_ -= of_gone;
    recurring_ += of_gone;
  }

 private:
  std::size_t recurring_ = 0;  // went to the system and was wanted again
  std::size_t kept_ = 0;       // of that, given back now
  std::size_t gone_ = 0;       // went to the system, and was not wanted since
};

}  // namespace mallard
