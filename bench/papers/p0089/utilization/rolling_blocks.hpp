// rolling_blocks: blocks of one size, of which the oldest makes room for the next.
//
//     ring  [e][f][c][d]          count = 6: c is the oldest, and the next one takes its place
//
// Invariant: once filled, place `count % length` has the oldest. Where allocating throws, count() says how
// many blocks there have been, and nothing may be done any more but to end their heap. The ring is memory of
// the harness's own. Cost: a load and a store of the ring a block, beside the heap's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/typed_bindings.hpp"

namespace mallard::bench {

// Life: the life of a binding.
template <class Life>
class rolling_blocks {
 public:
  // The ring's length is a power of two.
  rolling_blocks(Life& life, std::span<void*> ring, std::size_t size)
      : life_(life), ring_(ring), size_(size) {}

  void fill() {
    while (count_ < ring_.size()) add();
  }

  // Replaces the oldest until `total` blocks have been allocated in all. Precondition: filled.
  void turn_over(std::uint64_t total) {
    while (count_ < total) {
      end_oldest(count_);
      add();
    }
  }

  // Frees all, the oldest first. Precondition: filled.
  void drain() {
    for (std::size_t i = 0; i < ring_.size(); ++i) end_oldest(count_ + i);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);

  [[nodiscard]] void*& place(std::uint64_t nth) { return ring_[nth & (ring_.size() - 1)]; }

  void end_oldest(std::uint64_t nth) {
    life_.deallocate(place(nth), size_, alignment);
    part_calls();
  }

  void add() {
    void* const fresh = life_.allocate(size_, alignment);
    touch(fresh);
    place(count_) = fresh;
    ++count_;
  }

  Life& life_;
  std::span<void*> ring_;
  std::size_t size_;
  std::uint64_t count_ = 0;
};

}  // namespace mallard::bench
