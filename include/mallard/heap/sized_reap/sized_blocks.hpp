// sized_blocks: free blocks whose callers know their sizes, by size.
//
//     [8] --> b --> b --> null            below 1 KiB a list for each multiple of 8 bytes, linked through the
//     [16] --> null                       blocks' first words: no block has anything in front of it
//     ...  [1016] --> b --> null
//     [1040] --> b ... [32784] --> null   from there on a list for each of large_sizes: blocks of their sizes
//     size_trie  1024 ...                 and other pieces by best fit, each with a tag inside, at its start
//
// A request is cut from the smallest sufficient block, and the remainder, even 8 bytes, is free again. Blocks
// do not know their neighbours, so a free does not coalesce: headerless takes all blocks out for that, and
// puts the merged ones back in. Invariants: sizes and addresses are multiples of `granule`; bytes() is the
// sum of all sizes; the lists are not read before they are opened. Cost: put and take are O(1) below 1 KiB,
// and for blocks of rounded sizes, O(log size) for other pieces; 2.2 KiB, most of it written with the first
// block. Not synchronised. Seed 002, section 8 (individual deletion in regions).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/lazy_stacks.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/size_trie.hpp"

namespace mallard {

class sized_blocks {
 public:
  // Sizes and addresses of blocks are multiples of this many bytes.
  static constexpr std::size_t granule = sizeof(void*);

  // Blocks below this size are small: each of their sizes has a list.
  static constexpr std::size_t small = size_trie::least;

  // Sizes of large blocks are multiples of this.
  static constexpr std::size_t coarse = boundary_tag::granule;

  sized_blocks() = default;
  sized_blocks(const sized_blocks&) = delete;
  sized_blocks& operator=(const sized_blocks&) = delete;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  // Drops all blocks.
  void clear() noexcept {
    if (bytes_ == 0) return;
    lists_.close();
    present_ = {};
    large_.clear();
    bytes_ = 0;
  }

  // Makes ready for small blocks, once for all until clear().
  void open() noexcept {
    if (!lists_.is_open()) lists_.open();
  }
  [[nodiscard]] bool is_open() const noexcept { return lists_.is_open(); }

  // Inserts a small block of `size` bytes. Precondition: open.
  MALLARD_INLINE void put_small(void* p, std::size_t size) noexcept {
    const std::size_t index = size / granule;
    lists_.push(index, p);
    present_[index / word_bits] |= std::uint64_t{1} << index % word_bits;
    bytes_ += size;
  }

  // And a large block of one of large_sizes.
  void put_rounded(void* p, std::size_t size) noexcept {
    lists_.push(small_lists + large_sizes::index(size), p);
    bytes_ += size;
  }

  // And any piece of free memory; nothing is done with 0 bytes.
  void put(std::byte* p, std::size_t size) noexcept {
    if (size >= small) {
      const std::size_t odd = size % coarse;
      size -= odd;
      reinterpret_cast<boundary_tag*>(p)->set_free(size);
      large_.put(reinterpret_cast<boundary_tag*>(p));
      bytes_ += size;
      p += size;
      size = odd;
    }
    if (size == 0) return;
    open();
    put_small(p, size);
  }

  // The newest small block of exactly `size` bytes; null if it is not at a multiple of `align`.
  [[nodiscard]] MALLARD_INLINE void* take_newest(std::size_t size, std::size_t align) noexcept {
    return take_top(size / granule, size, align);
  }

  // The same of the newest few.
  [[nodiscard]] void* take_exact(std::size_t size, std::size_t align) noexcept {
    return take_from(size / granule, size, align);
  }

  // A large one of exactly `size` bytes, one of large_sizes, if it was put in as such.
  [[nodiscard]] void* take_rounded(std::size_t size, std::size_t align) noexcept {
    return take_from(small_lists + large_sizes::index(size), size, align);
  }

  // As take_exact, cut from the smallest small block that is larger; null if there is none.
  [[nodiscard]] MALLARD_NOINLINE void* take_small(std::size_t size, std::size_t align) noexcept {
    const std::size_t first = size / granule;
    for (std::size_t word = first / word_bits; word < small_lists / word_bits; ++word) {
      std::uint64_t candidates = present_[word];
      if (word == first / word_bits) candidates &= ~std::uint64_t{0} << first % word_bits;
      for (; candidates != 0; candidates &= candidates - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(candidates));
        const std::size_t whole = (word * word_bits + bit) * granule;
        if (lists_.top(whole / granule) == nullptr) {
          present_[word] &= ~(std::uint64_t{1} << bit);
        } else if (void* const p = take_exact(whole, align); p != nullptr) {
          put(static_cast<std::byte*>(p) + size, whole - size);
          return p;
        }
      }
    }
    return nullptr;
  }

  // The smallest large block that has room for `size` bytes at `align`, of each size only the first; returned
  // whole, with its size in `received`. Null if there is none.
  [[nodiscard]] std::byte* take_large(std::size_t size, std::size_t align, std::size_t& received) noexcept {
    boundary_tag* b = large_.at_least(size);
    while (b != nullptr && padding_for(b, align) + size > b->size()) b = large_.at_least(b->size() + coarse);
    if (b == nullptr) return nullptr;
    large_.remove(b);
    received = b->size();
    bytes_ -= received;
    return b->bytes();
  }

  // Removes all blocks: calls f(block, its size) for each. O(blocks).
  template <class F>
  void take_all(F f) noexcept {
    for (std::size_t index = 1; index < lists; ++index)
      while (void* const p = lists_.pop(index)) f(static_cast<std::byte*>(p), size_of(index));
    std::size_t size = 0;
    while (std::byte* const p = take_large(small, 1, size)) f(p, size);
    bytes_ = 0;
  }

  // Calls f(block, its size) for every block until one call returns false; returns whether none did and the
  // total is right. O(blocks).
  template <class F>
  [[nodiscard]] bool each(F f) const noexcept {
    std::size_t left = bytes_;
    for (std::size_t index = 0; index < lists_.size(); ++index)
      for (const void* p = lists_.top(index); p != nullptr; p = intrusive_stack::next(p)) {
        const std::size_t size = size_of(index);
        if (index == 0 || size > left || !f(p, size)) return false;
        if (index < small_lists && (present_[index / word_bits] >> index % word_bits & 1) == 0) return false;
        left -= size;
      }
    const bool large_are_whole = large_.each([&](const boundary_tag* b) {
      if (b->size() > left || !f(b->bytes(), b->size())) return false;
      left -= b->size();
      return true;
    });
    return large_are_whole && left == 0;
  }

 private:
  static constexpr std::size_t word_bits = 64;
  static constexpr std::size_t small_lists = small / granule;
  static constexpr std::size_t lists = small_lists + large_sizes::count;
  static constexpr std::size_t few = 4;  // blocks of a list that are looked at for an alignment

  static constexpr std::size_t size_of(std::size_t list) noexcept {
    return list < small_lists ? list * granule : large_sizes::size(list - small_lists);
  }

  MALLARD_INLINE void* take_top(std::size_t index, std::size_t size, std::size_t align) noexcept {
    void* const top = lists_.top(index);
    if (top == nullptr || (align > granule && !is_aligned(top, align))) return nullptr;
    bytes_ -= size;
    return lists_.pop(index);
  }

  void* take_from(std::size_t index, std::size_t size, std::size_t align) noexcept {
    void* const top = take_top(index, size, align);
    return top != nullptr || align <= granule ? top : take_aligned(index, size, align);
  }

  MALLARD_NOINLINE void* take_aligned(std::size_t index, std::size_t size, std::size_t align) noexcept {
    void* p = lists_.top(index);
    for (std::size_t i = 0; i < few && p != nullptr; ++i, p = intrusive_stack::next(p))
      if (is_aligned(p, align) && lists_.take_out(index, p, few)) {
        bytes_ -= size;
        return p;
      }
    return nullptr;
  }

  std::size_t bytes_ = 0;
  std::array<std::uint64_t, small_lists / word_bits> present_{};
  lazy_stacks<lists> lists_;
  size_trie large_;
};

}  // namespace mallard
