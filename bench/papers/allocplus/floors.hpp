// The floors of seed 001's benchmarks: heaps that do nothing, for what containers and nodes cost by
// themselves.
#pragma once

#include <cstddef>
#include <new>

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/resize.hpp"

namespace mallard::bench {

// one_place: a heap of one block, as large as anything gets: what vectors cost by themselves.
//
//     allocate --> [ the whole memory ]      resize --> as was asked      deallocate --> nothing
//
// A vector over it never moves and never asks twice, so that what is left is the building of elements and the
// vector's own checks: the floor that is taken off all other allocators. Precondition: one block at a time,
// no larger than the memory. No operation looks at anything.
class one_place {
 public:
  explicit one_place(std::size_t bytes) : memory_(bytes, harness::fill::before_use) {}

  [[nodiscard]] block allocate(std::size_t, std::size_t) noexcept { return {memory_.data(), memory_.size()}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}

  [[nodiscard]] std::size_t usable_size(const void*) const noexcept { return memory_.size(); }

  static constexpr resize_way ways = resize_way::expand_forward | resize_way::shrink | resize_way::try_shrink;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    return {{request.data, request.preferred}, true};
  }

 private:
  harness::scratch memory_;
};

// places_in_row: a heap that hands out one place after the other: what lists cost by themselves.
//
//     [a][b][c][next...]      the last one ended --> [next...]
//
// Places are as far apart as those of a heap without tags would be. When nothing is alive it starts over.
// Precondition: the memory is large enough for all that is alive between two such moments. Cost: a few
// instructions a block, of a burst its link alone, which containers demand: the floor that is taken off all
// other allocators.
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

// places_anew: a heap that hands out one place after the other until it has to begin anew: what single
// nodes cost by themselves.
//
//     [a][b][c][next...]      begin_anew() --> [next...]
//
// It does not even count, so that nothing is cheaper. Preconditions: the memory is large enough for all
// that is allocated between two beginnings; nothing is alive at one. Cost: an addition a block.
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
