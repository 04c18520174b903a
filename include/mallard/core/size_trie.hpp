// size_trie: large free blocks with boundary tags, found by best fit.
//
//     1024..1535  1536..2047  2048..3071 ...      a root for each half of a doubling, a bit for each root
//         |
//       1104            each level decides by the next bit of the size: 0 to the left, 1 to the right
//       /  \            a block may stand at any level: all below it share the bits that led there
//     1072  1488 = 1488 = 1488        blocks of one size: a ring, of which one is in the tree
//
// The links lie in the blocks' data. The search for the smallest sufficient block descends twice: along the
// bits of the wanted size, then leftmost from the last right branch it passed. Among blocks of one size it
// takes the newest that is not in the tree, if there is one.
// Invariants: the bits of a block's size lead to it; each block except those behind another in a ring stores
// the address of the one pointer to it; a root whose bit is clear is never read. Cost: O(log size) at most,
// usually two or three levels; 0.5 KiB, of which one word is written before the first block comes. Not
// synchronised. Seed 001, chapter 1.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/exact_bins.hpp"

namespace mallard {

class size_trie {
 public:
  // Size of the smallest block kept here, tag included.
  static constexpr std::size_t least = exact_bins::limit;

  size_trie() noexcept {}  // NOLINT(modernize-use-equals-default): that could write all roots
  size_trie(const size_trie&) = delete;
  size_trie& operator=(const size_trie&) = delete;

  [[nodiscard]] bool empty() const noexcept { return present_ == 0; }

  // Drops all blocks.
  void clear() noexcept { present_ = 0; }

  // Inserts a free block; precondition: of at least `least` bytes.
  void put(boundary_tag* b) noexcept {
    const std::size_t size = b->size();
    const std::size_t index = index_of(size);
    node** link = &roots_[index];
    if (!is_present(index)) {
      present_ |= std::uint64_t{1} << index;
      *link = nullptr;
    }
    for (std::size_t key = key_of(size, index); *link != nullptr; key <<= 1) {
      node* const above = *link;
      if (above->size() == size) return put_behind(above, b);
      link = &above->child[key >> top_bit];
    }
    node* const added = ::new (b->data()) node{nullptr, nullptr, link, {nullptr, nullptr}};
    added->next = added->previous = added;
    *link = added;
  }

  // The smallest block of at least `size` bytes; null if there is none.
  [[nodiscard]] boundary_tag* at_least(std::size_t size) const noexcept {
    size = std::max(size, least);
    const std::size_t index = index_of(size);
    const node* best = nullptr;
    const node* larger = nullptr;  // all below here are larger than `size`
    std::size_t key = key_of(size, index);
    for (const node* n = is_present(index) ? roots_[index] : nullptr; n != nullptr; key <<= 1) {
      if (n->size() >= size && (best == nullptr || n->size() < best->size())) best = n;
      const node* const below = n->child[key >> top_bit];
      if (n->child[1] != below && n->child[1] != nullptr) larger = n->child[1];
      n = below;
    }
    best = smallest(larger, best);
    if (best == nullptr) {
      const std::uint64_t higher = present_ & (~std::uint64_t{1} << index);
      if (higher == 0) return nullptr;
      best = smallest(roots_[static_cast<std::size_t>(std::countr_zero(higher))], nullptr);
    }
    return boundary_tag::of(best->next);
  }

  // Takes out a block that is in.
  void remove(boundary_tag* b) noexcept {
    node* const removed = static_cast<node*>(b->data());
    node* replacement = removed->next;
    removed->next->previous = removed->previous;
    removed->previous->next = removed->next;
    if (removed->link == nullptr) return;
    if (replacement == removed) replacement = take_leaf(removed);
    *removed->link = replacement;
    if (replacement == nullptr) return mark_emptied(removed->size());
    replacement->link = removed->link;
    for (std::size_t side = 0; side < 2; ++side) {
      replacement->child[side] = removed->child[side];
      if (replacement->child[side] != nullptr) replacement->child[side]->link = &replacement->child[side];
    }
  }

  // Calls f(block) for every block until one call returns false, or something leads to the wrong place;
  // returns whether neither happened. O(blocks).
  template <class F>
  bool each(F f) const noexcept {
    for (std::uint64_t left = present_; left != 0; left &= left - 1) {
      const auto index = static_cast<std::size_t>(std::countr_zero(left));
      if (roots_[index] == nullptr) return false;
      if (!each_below(&roots_[index], index, 0, 0, f)) return false;
    }
    return true;
  }

 private:
  struct node {
    node* next;  // ring of one size
    node* previous;
    node** link;  // what points here; null for one that is only in the ring
    std::array<node*, 2> child;

    [[nodiscard]] std::size_t size() const noexcept { return boundary_tag::of(this)->size(); }
  };
  static_assert(sizeof(node) + 2 * boundary_tag::overhead <= least);

  static constexpr int least_log2 = std::countr_zero(least);
  static constexpr int top_bit = 8 * sizeof(std::size_t) - 1;

  // The sizes of the last root share it; only their bits distinguish them, from the first on.
  static constexpr std::size_t last = 63;

  static std::size_t index_of(std::size_t size) noexcept {
    const auto log2 = static_cast<int>(std::bit_width(size)) - 1;
    const std::size_t half = size >> (log2 - 1) & 1;
    return std::min(last, 2 * static_cast<std::size_t>(log2 - least_log2) + half);
  }

  // The bits of `size` that its root does not determine, the highest one first.
  static std::size_t key_of(std::size_t size, std::size_t index) noexcept {
    return index == last ? size : size << (static_cast<std::size_t>(top_bit - least_log2) + 2 - index / 2);
  }

  [[nodiscard]] bool is_present(std::size_t index) const noexcept { return (present_ >> index & 1) != 0; }

  // Precondition: `first` is in the tree.
  static void put_behind(node* first, boundary_tag* b) noexcept {
    node* const added = ::new (b->data()) node{first->next, first, nullptr, {nullptr, nullptr}};
    first->next->previous = added;
    first->next = added;
  }

  // The smallest of `best`, if any, and the blocks at and below `n`, if any.
  static const node* smallest(const node* n, const node* best) noexcept {
    for (; n != nullptr; n = n->child[n->child[0] == nullptr])
      if (best == nullptr || n->size() < best->size()) best = n;
    return best;
  }

  // Removes a leaf from below `n`; null if there is none.
  static node* take_leaf(node* n) noexcept {
    node** link = nullptr;
    while (n->child[0] != nullptr || n->child[1] != nullptr) {
      link = &n->child[n->child[1] != nullptr];
      n = *link;
    }
    if (link == nullptr) return nullptr;
    *link = nullptr;
    return n;
  }

  void mark_emptied(std::size_t size) noexcept {
    const std::size_t index = index_of(size);
    if (roots_[index] == nullptr) present_ &= ~(std::uint64_t{1} << index);
  }

  // `bits`: the bits shared by all sizes here; the lowest `depth` of them are still open.
  template <class F>
  static bool each_below(node* const* link, std::size_t index, std::size_t bits, int depth, F& f) noexcept {
    const node* const n = *link;
    if (n == nullptr) return true;
    const node* member = n;
    do {
      if (!f(boundary_tag::of(member))) return false;
      if (member->size() != n->size() || member->link != (member == n ? link : nullptr)) return false;
      if (member != n && member->previous->next != member) return false;
      member = member->next;
    } while (member != n);
    if (index_of(n->size()) != index) return false;
    const std::size_t key = key_of(n->size(), index);
    if (depth != 0 && key >> (top_bit + 1 - depth) != bits) return false;
    return each_below(&n->child[0], index, bits << 1, depth + 1, f) &&
           each_below(&n->child[1], index, bits << 1 | 1, depth + 1, f);
  }

  std::uint64_t present_ = 0;
  std::array<node*, last + 1> roots_;
};

}  // namespace mallard
