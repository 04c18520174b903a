// places_anew: a heap that hands out one place after the other until it is told to begin anew: what single
// nodes cost by themselves.
//
//     [a][b][c][next...]      begin_anew() --> [next...]
//
// It does not even count, so that nothing is cheaper. Preconditions: the memory is large enough for all
// that is allocated between two beginnings; nothing is alive at one. Cost: an addition a block.
#pragma once

#include <cstddef>

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"

namespace mallard::bench {

class places_anew {
 public:
  explicit places_anew(std::size_t bytes) : memory_(bytes, harness::fill::before_use) { begin_anew(); }

  [[nodiscard]] block allocate(std::size_t size, std::size_t) noexcept {
    void* const place = next_;
    next_ += align_up(size, alignof(void*));
    return {place, size};
  }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}

  void begin_anew() noexcept { next_ = static_cast<std::byte*>(memory_.data()); }

 private:
  harness::scratch memory_;
  std::byte* next_ = nullptr;
};

}  // namespace mallard::bench
