// places_in_row: a heap that hands out one place after the other: what lists cost by themselves.
//
//     [a][b][c][next...]      the last one ended --> [next...]
//
// Places are as far apart as those of a heap without tags would be. When nothing is alive it begins anew.
// Precondition: the memory is large enough for all that is alive between two such moments. Cost: a few
// instructions a block, of a burst its link alone, which containers demand: the floor that is taken off all
// other contestants.
#pragma once

#include <cstddef>
#include <new>

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"

namespace mallard::bench {

class places_in_row {
 public:
  explicit places_in_row(std::size_t bytes)
      : memory_(bytes, harness::fill::before_use), next_(static_cast<std::byte*>(memory_.data())) {}

  [[nodiscard]] block allocate(std::size_t size, std::size_t) noexcept {
    void* const place = next_;
    next_ += align_up(size, alignof(void*));
    ++alive_;
    return {place, size};
  }

  void deallocate(void*, std::size_t, std::size_t) noexcept {
    if (--alive_ == 0) next_ = static_cast<std::byte*>(memory_.data());
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t,
                                    std::size_t) noexcept {
    const std::size_t apart = align_up(size, alignof(void*));
    void* const first = next_;
    void* last = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      last = ::new (next_) chain::node{reinterpret_cast<chain::node*>(next_ + apart)};
      next_ += apart;
    }
    alive_ += count;
    chain made(first, last, count);
    out.splice_back(made);
    return true;
  }

  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept {
    alive_ -= blocks.size();
    blocks = {};
    if (alive_ == 0) next_ = static_cast<std::byte*>(memory_.data());
  }

 private:
  harness::scratch memory_;
  std::byte* next_;
  std::size_t alive_ = 0;
};

}  // namespace mallard::bench
