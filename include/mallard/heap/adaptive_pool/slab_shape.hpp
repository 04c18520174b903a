// slab_shape: how a slab is divided into slots for blocks of one size.
//
//     piece 0, aligned to its size                        piece 1, only of slabs with several
//     [slot 0][slot 1]..[header, words]..[ .. ][slot n-1] [slot 0]..[header]..[ .... ][slot n-1]
//                       ^ colour         ^ slots that would lie over a header are never free
//
// A slab is an aligned piece of memory; a mask finds its header from any block in it. It is the "block" of an
// adaptive pool in seed 001. A slab of several pieces is aligned only to one piece, and the header of each
// piece points to the slab's: these are the "sub-blocks". The i-th slot of a piece starts i sizes from the
// piece's start, and a multiplication finds the slot of an address. If all headers lay at the start of their
// pieces they would compete for a few cache sets, which hold no more than a few hundred of them; so each
// header lies at an offset, its colour, derived from the piece's address.
// Invariant: each slab has at least one block. Seed 001, chapter 3 ("Minimizing alignment requirements").
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"

namespace mallard {

// Parameters of an adaptive pool: the minimum number of blocks per slab, the maximum number of empty slabs
// kept, and the percentage of a piece that its header and end may take. Seed 001's NodesPerBlock,
// MaxFreeBlocks and OverheadPercent.
inline constexpr std::size_t default_nodes_per_block = 256;
inline constexpr std::size_t free_blocks_in_proportion = static_cast<std::size_t>(-1);  // to use: a sixteenth
inline constexpr std::size_t only_alignment = 0;                                        // no sub-blocks

template <std::size_t NodesPerBlock = default_nodes_per_block,
          std::size_t MaxFreeBlocks = free_blocks_in_proportion, std::size_t OverheadPercent = only_alignment>
struct slab_form {
  static_assert(0 < NodesPerBlock && OverheadPercent < 100);
  static constexpr std::size_t nodes_per_block = NodesPerBlock;
  static constexpr std::size_t max_free_blocks = MaxFreeBlocks;
  static constexpr std::size_t overhead_percent = OverheadPercent;
  static constexpr bool has_pieces = OverheadPercent != only_alignment;
};

struct slab_shape {
  static constexpr std::size_t slots_a_word = 64;
  static constexpr std::size_t largest_size = std::size_t{1} << 27;  // bytes of a block: 128 MiB

  std::size_t size = 0;             // bytes of a slot; 0: none
  std::size_t align = 0;            // of each slot, in bytes
  std::size_t within = 0;           // bits of an address that lie within a piece
  std::size_t colours = 0;          // bits of a header's offset in its piece
  std::uint64_t reciprocal = 0;     // of the size, in 2^-32
  std::uint32_t colour_shift = 0;   // from the address of the piece to those bits
  std::uint32_t pieces = 0;         // of a slab
  std::uint32_t words_a_piece = 0;  // words of bits, one bit a slot

  // Sizes of headers: of a slab, without its words; of a chunk, behind its first slab's; of a slab's further
  // pieces.
  struct headers {
    std::size_t slab, chunk, piece;
  };

  // For blocks of at least `size` bytes, and at least a pointer's, at `align`. Empty if that is impossible.
  template <class Form>
  [[nodiscard]] static constexpr slab_shape of(std::size_t size, std::size_t align, headers lost) noexcept {
    align = std::max(align, alignof(void*));
    if (size > largest_size || align > largest_size) return {};
    slab_shape made;
    made.size = align_up(std::max(size, sizeof(void*)), align);
    made.align = align;
    if (made.size > largest_size) return {};
    // Fewer large blocks: otherwise a slab of them would be larger than many programs.
    const std::size_t most = std::max(usual_bytes / made.size, least_nodes);
    const std::size_t nodes = std::min(Form::nodes_per_block, most);
    made.reciprocal = ((std::uint64_t{1} << 32) + made.size - 1) / made.size;
    if constexpr (Form::has_pieces)
      made.divide(nodes, Form::overhead_percent, lost);
    else
      made.enlarge(nodes, lost);
    return made;
  }

  // Bytes of a piece, a power of two, and of a slab.
  [[nodiscard]] constexpr std::size_t piece() const noexcept { return within + 1; }
  [[nodiscard]] constexpr std::size_t bytes() const noexcept { return piece() * pieces; }
  [[nodiscard]] constexpr std::size_t words() const noexcept { return std::size_t{words_a_piece} * pieces; }

  // Slots of a piece, unusable ones included.
  [[nodiscard]] constexpr std::size_t slots() const noexcept { return piece() / size; }

  // The offset of the header in the piece that starts at `begin`.
  [[nodiscard]] constexpr std::size_t colour_at(std::uintptr_t begin) const noexcept {
    return static_cast<std::size_t>(begin >> colour_shift) & colours;
  }

  // The slot that starts `offset` bytes into its piece; precondition: one does.
  [[nodiscard]] constexpr std::size_t slot_at(std::size_t offset) const noexcept {
    return static_cast<std::size_t>((offset * reciprocal) >> 32);
  }

 private:
  static constexpr std::size_t usual_bytes = 32768;
  static constexpr std::size_t least_nodes = 8;
  static constexpr std::size_t largest_piece = std::size_t{1} << 31;
  // Headers of neighbouring pieces are two cache lines apart. Their range is limited to a page, so that the
  // first blocks of a new slab touch no other page.
  static constexpr std::size_t colour_step = 2 * cache_line;
  static constexpr std::size_t colour_range = 4096;

  constexpr void set_piece(std::size_t bytes) noexcept {
    within = bytes - 1;
    words_a_piece = static_cast<std::uint32_t>((slots() + slots_a_word - 1) / slots_a_word);
    const std::size_t range = std::min(colour_range, bytes / 2);
    colours = range <= colour_step ? 0 : (range - 1) & ~(colour_step - 1);
    colour_shift = colours == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(bytes / colour_step));
  }

  // The most slots that `bytes` anywhere in a piece can overlap.
  [[nodiscard]] constexpr std::size_t slots_under(std::size_t bytes) const noexcept {
    return std::min(slots(), (bytes + size - 1) / size + (colours == 0 ? 0 : 1));
  }

  // The minimum number of blocks in a slab.
  [[nodiscard]] constexpr std::size_t nodes(headers lost) const noexcept {
    const std::size_t front = lost.slab + words() * sizeof(std::uint64_t) + lost.chunk;
    if (front > piece() / 2) return 0;
    return slots() - slots_under(front) + (pieces - 1) * (slots() - slots_under(lost.piece));
  }

  // One piece, as large as it must be.
  constexpr void enlarge(std::size_t least, headers lost) noexcept {
    pieces = 1;
    set_piece(std::max(std::bit_ceil(least * size), std::bit_ceil(align)));
    while (nodes(lost) < least && piece() < largest_piece) set_piece(2 * piece());
  }

  // Pieces as small as the overhead allows, as many as there must be.
  constexpr void divide(std::size_t least, std::size_t percent, headers lost) noexcept {
    pieces = 1;
    set_piece(std::bit_ceil(size + lost.piece));
    const auto is_wasteful = [&] {
      const std::size_t used = (slots() - slots_under(lost.piece)) * size;
      return (piece() - used) * 100 > piece() * percent && piece() < 64 * size;
    };
    while ((is_wasteful() || nodes(lost) == 0) && piece() < largest_piece) set_piece(2 * piece());
    while (nodes(lost) < least && piece() < largest_piece) {
      ++pieces;
      if (nodes(lost) != 0) continue;
      // The header with all its words outgrows the first piece.
      pieces = 1;
      set_piece(2 * piece());
    }
  }
};

}  // namespace mallard
