// recent_large: recently freed large blocks with boundary tags, kept for the next request of their size.
//
//     [1040]  top --> block --> block --> null      a stack for each of large_sizes, of blocks that have room
//     [1104]  top --> null                          for it; their tags say that they are used
//     ...
//
// As best_fit/recent_blocks.hpp for small ones: a request of a size that comes and goes needs neither a
// search of the free blocks nor a coalescing with neighbours that are in no cache. Requests must be rounded
// to large_sizes, otherwise few fit. Invariant: bytes() is the sum of all blocks, tags included. Cost: O(1),
// 0.7 KiB. Not synchronised.
#pragma once

#include <array>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/size_classes.hpp"

namespace mallard {

class recent_large {
 public:
  // Whether a block of `size` bytes may wait here.
  [[nodiscard]] static constexpr bool takes(std::size_t size) noexcept {
    return large_sizes::least <= size && size <= large_sizes::largest;
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  // The newest block of at least `size` bytes, one of large_sizes; null if there is none of that size, or
  // its data is not at a multiple of `align`.
  [[nodiscard]] boundary_tag* take(std::size_t size, std::size_t align) noexcept {
    intrusive_stack& stack = stacks_[large_sizes::index(size)];
    if (stack.empty() || !is_aligned(stack.top(), align)) return nullptr;
    boundary_tag* const taken = boundary_tag::of(stack.pop());
    bytes_ -= taken->size();
    --count_;
    return taken;
  }

  // Precondition: its size is one that this takes.
  void put(boundary_tag* b) noexcept {
    stacks_[large_sizes::index_within(b->size())].push(b->data());
    bytes_ += b->size();
    ++count_;
  }

  // Takes all blocks out, and calls f(block) for each.
  template <class F>
  void take_all(F f) noexcept {
    bytes_ = count_ = 0;
    for (intrusive_stack& s : stacks_)
      while (void* const p = s.pop()) f(boundary_tag::of(p));
  }

  // Calls f(block) for every block until one call returns false; returns whether none did, and the sizes add
  // up. O(blocks).
  template <class F>
  [[nodiscard]] bool each(F f) const noexcept {
    std::size_t left = count_;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      for (const void* p = stacks_[i].top(); p != nullptr; p = intrusive_stack::next(p)) {
        const boundary_tag* const b = boundary_tag::of(p);
        if (left-- == 0 || !f(b) || !takes(b->size()) || large_sizes::index_within(b->size()) != i)
          return false;
        bytes += b->size();
      }
    return left == 0 && bytes == bytes_;
  }

 private:
  std::array<intrusive_stack, large_sizes::count> stacks_{};
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
};

}  // namespace mallard
