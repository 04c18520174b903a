// free_blocks: free blocks with boundary tags, by size.
//
//     exact_bins    [32] [48] [64] ... [1008]     a list for each size
//     size_trie     1024 ...                      by best fit
//
// Invariants: each block here is free, and its footer and the next tag say so; idle() is the sum of the
// blocks that fill a whole chunk. Cost: O(1) for a block below 1 KiB, a descent of the trie for a larger one.
// Not synchronised. Seed 001, chapter 1.
#pragma once

#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/exact_bins.hpp"
#include "mallard/core/size_trie.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

class free_blocks {
 public:
  // Blocks below this size, tags included, are small: each of their sizes has a list.
  static constexpr std::size_t small = exact_bins::limit;

  free_blocks() = default;
  free_blocks(const free_blocks&) = delete;
  free_blocks& operator=(const free_blocks&) = delete;

  // Drops all blocks.
  void clear() noexcept {
    bins_.clear();
    trie_.clear();
    idle_ = 0;
    bytes_ = 0;
  }

  // Bytes of the blocks that fill a whole chunk.
  [[nodiscard]] std::size_t idle() const noexcept { return idle_; }

  // Bytes of all blocks.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  // The smallest small block of at least `size` bytes; null if there is none.
  [[nodiscard]] MALLARD_INLINE boundary_tag* small_at_least(std::size_t size) noexcept {
    return bins_.at_least(size);
  }

  // The smallest block of at least `size` bytes; null if there is none.
  [[nodiscard]] boundary_tag* at_least(std::size_t size) noexcept {
    if (size < small)
      if (boundary_tag* const b = bins_.at_least(size); b != nullptr) return b;
    return trie_.at_least(size);
  }

  // Inserts a block of `size` bytes; put_small only a small one.
  MALLARD_INLINE void put_small(boundary_tag* b, std::size_t size) noexcept {
    bytes_ += size;
    bins_.put(b, size);
  }
  void put(boundary_tag* b, std::size_t size) noexcept { size < small ? put_small(b, size) : put_large(b); }

  // Removes a block of `size` bytes; remove_small only a small one.
  MALLARD_INLINE void remove_small(boundary_tag* b, std::size_t size) noexcept {
    bytes_ -= size;
    exact_bins::remove(b);
  }
  void remove(boundary_tag* b, std::size_t size) noexcept {
    size < small ? remove_small(b, size) : remove_large(b);
  }

  // Calls f(block) for every block; returns the first violation that f returns or that is found here.
  // O(blocks).
  template <class F>
  [[nodiscard]] violation validate(F f) const noexcept {
    violation found;
    std::size_t idle = 0;
    std::size_t bytes = 0;
    const bool bins_are_whole = bins_.each([&](const boundary_tag* b, std::size_t size) {
      found = f(b);
      bytes += size;
      return !found && b->size() == size;
    });
    if (found) return found;
    if (!bins_are_whole) return {"free_blocks: a list of small blocks is broken"};
    const bool trie_is_whole = trie_.each([&](const boundary_tag* b) {
      found = f(b);
      if (found) return false;
      if (b->is_whole_chunk()) idle += b->size();
      bytes += b->size();
      return b->size() >= size_trie::least;
    });
    if (found) return found;
    if (!trie_is_whole) return {"free_blocks: the trie of large blocks is broken"};
    if (idle != idle_) return {"free_blocks: the idle chunks do not add up"};
    if (bytes != bytes_) return {"free_blocks: the blocks do not add up"};
    return {};
  }

 private:
  MALLARD_NOINLINE void put_large(boundary_tag* b) noexcept {
    if (b->is_whole_chunk()) idle_ += b->size();
    bytes_ += b->size();
    trie_.put(b);
  }

  MALLARD_NOINLINE void remove_large(boundary_tag* b) noexcept {
    if (b->is_whole_chunk()) idle_ -= b->size();
    bytes_ -= b->size();
    trie_.remove(b);
  }

  std::size_t idle_ = 0;
  std::size_t bytes_ = 0;
  exact_bins bins_;
  size_trie trie_;
};

}  // namespace mallard
