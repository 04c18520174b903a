// grow_in_place: a block with a boundary tag takes memory from its free neighbours.
//
//     forward    [ used ][ free ......... ]           -->  [ used ......... ][ free ]
//     backward   [ free ......... ][ used ][ free ]   -->  [ free ][ .............. used ]
//                                                                  <-- a multiple of the step
//
// `limit` and `preferred` are block sizes including tags. Afterwards the block has the preferred size, or
// slightly more, if possible; otherwise as much as there is, but at least the limit. If even the limit is out
// of reach, nothing changes. Memory taken behind the block is cut to the preferred size. Memory taken in
// front is not, as the block keeps all it had. Cost: unlinking the neighbours from their lists. Seed 001,
// "Testing forward expansion" and "Testing backwards expansion".
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/check.hpp"
#include "mallard/heap/best_fit/joined_blocks.hpp"

namespace mallard {

// multiples: the multiples of an object's size by which an address may move, without a division.
//
//     step 12, granule 16:   common 48     down(100) = 96     up(100) = 144
//
// A block that grows backward moves its start by a multiple of the object size and of the heap's granule,
// i.e. of their least common multiple. The granule is a power of two, so that part is a shift; for the odd
// factors of most sizes, up to 15, the compiler divides by a constant. Cost: about 10 instructions, plus a
// division for other sizes. Seed 001, "Testing backwards expansion".
class multiples {
 public:
  // The multiples of both `step` and `granule`, a power of two; precondition: step > 0, and step * granule
  // does not overflow.
  multiples(std::size_t step, std::size_t granule) noexcept
      : shift_(std::max(std::countr_zero(step), std::countr_zero(granule))),
        odd_(step >> std::countr_zero(step)) {
    MALLARD_CHECK(step != 0 && std::has_single_bit(granule));
  }

  // The least positive multiple.
  [[nodiscard]] std::size_t least() const noexcept { return odd_ << shift_; }

  // The largest that is not above `bytes`.
  [[nodiscard]] std::size_t down(std::size_t bytes) const noexcept {
    return quotient(bytes >> shift_) * odd_ << shift_;
  }

  // The least that is not below `bytes`; precondition: it does not overflow.
  [[nodiscard]] std::size_t up(std::size_t bytes) const noexcept { return down(bytes + least() - 1); }

 private:
  [[nodiscard]] std::size_t quotient(std::size_t units) const noexcept {
    switch (odd_) {
      case 1:
        return units;
      case 3:
        return units / 3;
      case 5:
        return units / 5;
      case 7:
        return units / 7;
      case 9:
        return units / 9;
      case 11:
        return units / 11;
      case 13:
        return units / 13;
      case 15:
        return units / 15;
      default:
        return units / odd_;
    }
  }

  int shift_;
  std::size_t odd_;
};

// Whether the block has at least `limit` bytes now; precondition: limit <= preferred.
[[nodiscard]] inline bool grow_forward(joined_blocks& blocks, boundary_tag* b, std::size_t limit,
                                       std::size_t preferred) noexcept {
  const std::size_t room = blocks.room_behind(b);
  if (b->size() + room < limit) return false;
  if (room == 0 || b->size() >= preferred) return true;
  blocks.join_behind(b);
  if (b->size() > preferred) blocks.cut(b, preferred);
  return true;
}

// The multiple of `unit` by which a block grows into the `room` in front of it to gain `missing` bytes, or as
// many as possible.
[[nodiscard]] inline std::size_t bytes_before(std::size_t room, std::size_t missing,
                                              const multiples& unit) noexcept {
  std::size_t taken = missing <= room ? unit.up(missing) : unit.down(room);
  if (taken > room) taken = unit.down(room);
  if (boundary_tag::can_take(taken, room)) return taken;
  // The few remaining bytes would not be a block.
  return taken + unit.least() == room ? room : taken - unit.least();
}

// The block, or the one that it has become, with at least `limit` bytes; null with nothing changed if that is
// impossible. `step`: its start moves by a multiple of that; `behind`: whether it may also grow forward.
// Precondition: limit <= preferred.
[[nodiscard]] inline boundary_tag* grow_backward(joined_blocks& blocks, boundary_tag* b, std::size_t limit,
                                                 std::size_t preferred, std::size_t step,
                                                 bool behind) noexcept {
  const std::size_t room_behind = behind ? blocks.room_behind(b) : 0;
  const std::size_t size = b->size() + room_behind;
  const std::size_t room_before = blocks.room_before(b);
  const bool is_enough = size >= preferred || step > room_before;
  const std::size_t before =
      is_enough ? 0 : bytes_before(room_before, preferred - size, multiples(step, boundary_tag::granule));
  if (size + before < limit) return nullptr;
  const std::size_t kept = b->size() + before;  // what was there stays
  if (room_behind != 0 && kept < preferred) blocks.join_behind(b);
  if (before != 0) b = blocks.join_before(b, before);
  if (b->size() > std::max(kept, preferred)) blocks.cut(b, std::max(kept, preferred));
  return b;
}

}  // namespace mallard
