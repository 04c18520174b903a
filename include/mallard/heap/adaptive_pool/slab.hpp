// slab: blocks of one size with one bit each; a mask finds the header from any block.
//
//     | b |   | b |[of|first_word|capacity|until|goal|newer|older|chunk][1110 0111 ...]| b |   |   | b |
//                   header                                               words: 1 is free
//
// Freeing a block sets a bit and decrements a counter. Allocation takes a whole word of bits, so blocks come
// out in address order. Neither touches the blocks. The number of free blocks is computed only when it
// matters: `until` says how many frees may happen before the slab is examined again, and `goal` how many
// blocks are free then. The first slab of a chunk holds the chunk's header behind its words. A slab is plain
// state: partial_lists and slab_chunks manage several. Seed 001, chapter 3 ("Adaptive pools explained").
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool/slab_shape.hpp"

namespace mallard {

// intrusive_list<T>: a doubly linked list through the elements' own members.
//
//     front --> [T: newer, older] <--> [T] <--> [T] <-- back
//
// Two pointers, so a heap with many lists is cheap to create and destroy. An element is in one list at a
// time, and the caller knows which. Cost: O(1); validation is O(elements). Not synchronised.
//
// T: has members `newer` and `older`, pointers to T, which belong to the list while the element is in it.
template <class T>
class intrusive_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }
  [[nodiscard]] T* front() const noexcept { return front_; }
  [[nodiscard]] T* back() const noexcept { return back_; }

  void push_front(T* added) noexcept {
    added->newer = nullptr;
    added->older = front_;
    (front_ == nullptr ? back_ : front_->newer) = added;
    front_ = added;
  }

  void push_back(T* added) noexcept {
    added->newer = back_;
    added->older = nullptr;
    (back_ == nullptr ? front_ : back_->older) = added;
    back_ = added;
  }

  // Removes an element of this list.
  void erase(T* taken) noexcept {
    (taken->newer == nullptr ? front_ : taken->newer->older) = taken->older;
    (taken->older == nullptr ? back_ : taken->older->newer) = taken->newer;
  }

  // Whether the links agree. `is_element(e)` judges each before it is looked into.
  template <class F>
  [[nodiscard]] violation validate(F is_element) const noexcept {
    const T* newer = nullptr;
    for (const T* e = front_; e != nullptr; newer = e, e = e->older) {
      if (!is_element(e)) return {"intrusive_list: what is linked is no element"};
      if (e->newer != newer) return {"intrusive_list: two elements disagree about which is the newer"};
    }
    return newer == back_ ? violation{} : violation{"intrusive_list: the last element is another"};
  }

 private:
  T* front_ = nullptr;
  T* back_ = nullptr;
};

struct slab;

// Slabs that came from an upstream as one block.
struct slab_chunk {
  slab_chunk* newer;
  slab_chunk* older;
  void* origin;  // the upstream's block
  std::size_t bytes;
  std::byte* begin;      // of the first slab
  std::uint64_t all;     // a bit for each slab
  std::uint64_t unused;  // of these, the ones without a block
};

// At the start of every piece of a slab; only slabs of several pieces read it.
struct slab_piece {
  slab* of;
  std::uint32_t first_word;  // of the piece, among the slab's
  std::uint32_t capacity;    // blocks of the whole slab
};

struct slab : slab_piece {
  std::uint32_t until;
  std::uint32_t goal;
  slab* newer;
  slab* older;
  slab_chunk* chunk;

  using word = std::uint64_t;
  static constexpr slab_shape::headers headers = {48, sizeof(slab_chunk), sizeof(slab_piece)};

  // The header in the piece that starts at `begin`; for the first piece of a slab, the slab itself.
  [[nodiscard]] static slab_piece* header_at(const slab_shape& shape, std::byte* begin) noexcept {
    return reinterpret_cast<slab_piece*>(begin + shape.colour_at(address_of(begin)));
  }

  [[nodiscard]] word* words() noexcept { return reinterpret_cast<word*>(this + 1); }
  [[nodiscard]] const word* words() const noexcept { return reinterpret_cast<const word*>(this + 1); }

  [[nodiscard]] std::byte* begin(const slab_shape& shape) const noexcept {
    const std::size_t offset = address_of(this) & shape.within;
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this)) - offset;
  }

  // The first slot of a word.
  [[nodiscard]] std::byte* first_of_word(const slab_shape& shape, std::size_t index) const noexcept {
    const std::size_t piece = index / shape.words_a_piece;
    const std::size_t in_piece = index - piece * shape.words_a_piece;
    return begin(shape) + piece * shape.piece() + in_piece * slab_shape::slots_a_word * shape.size;
  }

  // The value of a word whose blocks are all free.
  [[nodiscard]] word all_of_word(const slab_shape& shape, std::size_t index) const noexcept {
    const std::size_t piece = index / shape.words_a_piece;
    const std::size_t first = (index - piece * shape.words_a_piece) * slab_shape::slots_a_word;
    const std::size_t from = shape.colour_at(address_of(begin(shape) + piece * shape.piece()));
    const std::size_t to = from + header_bytes(shape, piece);
    return bits(first, 0, shape.slots()) &
           ~bits(first, from / shape.size, (to + shape.size - 1) / shape.size);
  }

  // Makes all blocks free; returns how many there are.
  std::size_t free_all(const slab_shape& shape) noexcept {
    const std::size_t slots = shape.slots();
    std::size_t blocks = 0;
    word* next = words();
    for (std::size_t piece = 0; piece < shape.pieces; ++piece) {
      const std::size_t from = shape.colour_at(address_of(begin(shape) + piece * shape.piece()));
      const std::size_t lost = from / shape.size;
      const std::size_t behind = (from + header_bytes(shape, piece) + shape.size - 1) / shape.size;
      blocks += slots - (std::min(behind, slots) - std::min(lost, slots));
      for (std::size_t first = 0; first < slots; first += slab_shape::slots_a_word, ++next)
        *next = bits(first, 0, slots) & ~bits(first, lost, behind);
    }
    return blocks;
  }

  // Counts the set bits: free blocks, except those of a word that was taken.
  [[nodiscard]] std::size_t count_free(const slab_shape& shape) const noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < shape.words(); ++i)
      found += static_cast<std::size_t>(std::popcount(words()[i]));
    return found;
  }

  // It is to be looked at again when `free` blocks are free; `now` are.
  void look_when(std::size_t free, std::size_t now) noexcept {
    goal = static_cast<std::uint32_t>(free);
    until = static_cast<std::uint32_t>(free - now);
  }

 private:
  [[nodiscard]] std::size_t header_bytes(const slab_shape& shape, std::size_t piece) const noexcept {
    if (piece != 0) return headers.piece;
    const std::size_t of_chunk = chunk->begin == begin(shape) ? headers.chunk : 0;
    return sizeof(slab) + shape.words() * sizeof(word) + of_chunk;
  }

  // In the word whose first slot is `first`, the bits of the slots from `from` up to, but without, `to`.
  static word bits(std::size_t first, std::size_t from, std::size_t to) noexcept {
    const auto below = [first](std::size_t slot) {
      if (slot <= first) return word{0};
      return slot - first >= slab_shape::slots_a_word ? ~word{0} : (word{1} << (slot - first)) - 1;
    };
    return below(to) & ~below(from);
  }
};
static_assert(sizeof(slab) == slab::headers.slab);

}  // namespace mallard
