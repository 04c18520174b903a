// recent_blocks: recently freed small blocks, kept for the next request of their size.
//
//     [32]  top --> block --> block --> null        taken as they are: their tags say that they are used
//     [48]  top --> null
//     ...   up to 1008                              all together: at most `most` bytes
//
// Most requests follow the free of a block of the same size. Blocks kept here are neither coalesced nor
// split; they cost a push and a pop. When they become too many, the heap takes all of them out and coalesces
// them. Invariant: room_ is `most` minus the bytes of the blocks here, and positive except just before they
// are taken out; it is 0 until the first block comes, which initialises the stacks. Cost: O(1), about 7
// instructions each way; 0.5 KiB, unwritten until then. Not synchronised.
#pragma once

#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/exact_bins.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/lazy_stacks.hpp"

namespace mallard {

class recent_blocks {
 public:
  // Blocks smaller than this many bytes, tags included, may wait here.
  static constexpr std::size_t limit = exact_bins::limit;

  // At most this many bytes of blocks wait; coalescing them takes some ten microseconds.
  static constexpr std::ptrdiff_t most = std::ptrdiff_t{1} << 14;

  // Takes the newest block of `size` bytes; null if there is none.
  [[nodiscard]] MALLARD_INLINE boundary_tag* take(std::size_t size) noexcept {
    void* const taken = stacks_.pop(size / boundary_tag::granule);
    if (taken == nullptr) return nullptr;
    room_ += static_cast<std::ptrdiff_t>(size);
    return boundary_tag::of(taken);
  }

  // Inserts a block of `size` bytes; false if there are too many now.
  [[nodiscard]] MALLARD_INLINE bool put(boundary_tag* b, std::size_t size) noexcept {
    room_ -= static_cast<std::ptrdiff_t>(size);
    if (room_ <= 0) [[unlikely]]
      return put_without_room(b, size);
    push(b, size);
    return true;
  }

  // Removes a block if it is among the newest of its size; false if it is not found there.
  [[nodiscard]] bool take_out(boundary_tag* b) noexcept {
    const std::size_t size = b->size();
    if (size >= limit || !stacks_.take_out(size / boundary_tag::granule, b->data(), few)) return false;
    room_ += static_cast<std::ptrdiff_t>(size);
    return true;
  }

  [[nodiscard]] bool empty() const noexcept { return room_ == most || !stacks_.is_open(); }

  // Drops all blocks.
  void clear() noexcept {
    stacks_.close();
    room_ = 0;
  }

  // Takes all blocks out, and calls f(block) for each.
  template <class F>
  void take_all(F f) noexcept {
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      while (void* const p = stacks_.pop(i)) f(boundary_tag::of(p));
    if (stacks_.is_open()) room_ = most;
  }

  // Calls f(block, its size) for every block until one call returns false; returns whether none did, and the
  // sizes add up. O(blocks).
  template <class F>
  bool each(F f) const noexcept {
    auto room = stacks_.is_open() ? most : 0;
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      for (const void* p = stacks_.top(i); p != nullptr; p = intrusive_stack::next(p)) {
        const std::size_t size = i * boundary_tag::granule;
        if (!f(boundary_tag::of(p), size)) return false;
        room -= static_cast<std::ptrdiff_t>(size);
        if (room <= 0) return false;
      }
    return room == room_;
  }

 private:
  static constexpr std::size_t few = 4;

  MALLARD_INLINE void push(boundary_tag* b, std::size_t size) noexcept {
    stacks_.push(size / boundary_tag::granule, b->data());
  }

  // For the first block, or the one with which they become too many; returns whether it is the first.
  MALLARD_NOINLINE bool put_without_room(boundary_tag* b, std::size_t size) noexcept {
    const bool is_first = !stacks_.is_open();
    if (is_first) {
      stacks_.open();
      room_ += most;
    }
    push(b, size);
    return is_first;
  }

  std::ptrdiff_t room_ = 0;
  lazy_stacks<limit / boundary_tag::granule> stacks_;
};

}  // namespace mallard
