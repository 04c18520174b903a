// tray: blocks of one size and a bit for each, whose header is found from any of them by a mask.
//
//     | b |   | b |[of|first_word|capacity|until|goal|newer|older|chunk][1110 0111 ...][...]| b |   |   | b |
//     ...
//                   header                                               words: 1 is free
//
// To free a block sets a bit and counts down; to allocate takes a word of bits, so that blocks come out in
// the order of their addresses. Neither touches the blocks. How many are free is counted only where it
// matters: `until` says how many may be freed before the tray is looked at again, and `goal` how many are
// free then. The first tray of a chunk has the chunk's header behind its words. Plain state: what trays do
// together is tray_shelves and tray_chunks. Seed 001, chapter 3 ("Adaptive pools explained").
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "mallard/heap/adaptive_pool/tray_shape.hpp"

namespace mallard {

struct tray;

// Trays that came from an upstream as one block.
struct tray_chunk {
  tray_chunk* newer;
  tray_chunk* older;
  void* origin;  // the upstream's block
  std::size_t bytes;
  std::byte* begin;      // of the first tray
  std::uint64_t all;     // a bit for each tray
  std::uint64_t unused;  // of these, the ones without a block
};

// In every piece of a tray; only trays of several pieces look at it.
struct tray_piece {
  tray* of;
  std::uint32_t first_word;  // of the piece, among the tray's
  std::uint32_t capacity;    // blocks of the whole tray
};

struct tray : tray_piece {
  std::uint32_t until;
  std::uint32_t goal;
  tray* newer;
  tray* older;
  tray_chunk* chunk;

  using word = std::uint64_t;
  static constexpr tray_shape::headers headers = {48, sizeof(tray_chunk), sizeof(tray_piece)};

  // The header in the piece that begins at `begin`; of a tray's first piece, the tray.
  [[nodiscard]] static tray_piece* header_at(const tray_shape& shape, std::byte* begin) noexcept {
    return reinterpret_cast<tray_piece*>(begin + shape.colour_at(address_of(begin)));
  }

  [[nodiscard]] word* words() noexcept { return reinterpret_cast<word*>(this + 1); }
  [[nodiscard]] const word* words() const noexcept { return reinterpret_cast<const word*>(this + 1); }

  [[nodiscard]] std::byte* begin(const tray_shape& shape) const noexcept {
    const std::size_t offset = address_of(this) & shape.within;
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this)) - offset;
  }

  // Where the first slot of a word lies.
  [[nodiscard]] std::byte* first_of_word(const tray_shape& shape, std::size_t index) const noexcept {
    const std::size_t piece = index / shape.words_a_piece;
    const std::size_t in_piece = index - piece * shape.words_a_piece;
    return begin(shape) + piece * shape.piece() + in_piece * tray_shape::slots_a_word * shape.size;
  }

  // The bits of a word where all blocks are free.
  [[nodiscard]] word all_of_word(const tray_shape& shape, std::size_t index) const noexcept {
    const std::size_t piece = index / shape.words_a_piece;
    const std::size_t first = (index - piece * shape.words_a_piece) * tray_shape::slots_a_word;
    const std::size_t from = shape.colour_at(address_of(begin(shape) + piece * shape.piece()));
    const std::size_t to = from + header_bytes(shape, piece);
    return bits(first, 0, shape.slots()) &
           ~bits(first, from / shape.size, (to + shape.size - 1) / shape.size);
  }

  // Makes all blocks free; returns how many there are.
  std::size_t free_all(const tray_shape& shape) noexcept {
    const std::size_t slots = shape.slots();
    std::size_t blocks = 0;
    word* next = words();
    for (std::size_t piece = 0; piece < shape.pieces; ++piece) {
      const std::size_t from = shape.colour_at(address_of(begin(shape) + piece * shape.piece()));
      const std::size_t lost = from / shape.size;
      const std::size_t behind = (from + header_bytes(shape, piece) + shape.size - 1) / shape.size;
      blocks += slots - (std::min(behind, slots) - std::min(lost, slots));
      for (std::size_t first = 0; first < slots; first += tray_shape::slots_a_word, ++next)
        *next = bits(first, 0, slots) & ~bits(first, lost, behind);
    }
    return blocks;
  }

  // Bits that are set: free blocks, without those of a word that was taken.
  [[nodiscard]] std::size_t count_free(const tray_shape& shape) const noexcept {
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
  [[nodiscard]] std::size_t header_bytes(const tray_shape& shape, std::size_t piece) const noexcept {
    if (piece != 0) return headers.piece;
    const std::size_t of_chunk = chunk->begin == begin(shape) ? headers.chunk : 0;
    return sizeof(tray) + shape.words() * sizeof(word) + of_chunk;
  }

  // Of the word whose first slot is `first`, the bits of the slots from `from` to in front of `to`.
  static word bits(std::size_t first, std::size_t from, std::size_t to) noexcept {
    const auto below = [first](std::size_t slot) {
      if (slot <= first) return word{0};
      return slot - first >= tray_shape::slots_a_word ? ~word{0} : (word{1} << (slot - first)) - 1;
    };
    return below(to) & ~below(from);
  }
};
static_assert(sizeof(tray) == tray::headers.tray);

}  // namespace mallard
