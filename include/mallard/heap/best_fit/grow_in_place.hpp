// grow_in_place: a block of boundary tags takes from its free neighbours what it needs.
//
//     forward    [ used ][ free ......... ]           -->  [ used ......... ][ free ]
//     backward   [ free ......... ][ used ][ free ]   -->  [ free ][ .............. used ]
//                                                                  <-- a multiple of the step
//
// `limit` and `preferred` are sizes of blocks, tags included: the block has at least the limit afterwards,
// and the preferred size, or a little more, where that can be had; else all that there is. Where not even the
// limit can be had, nothing changes. What is taken behind is cut to what is preferred; what is taken in front
// is not, as the block still has all that it had. Cost: that of taking the neighbours out of their lists.
// Seed 001, "Testing forward expansion" and "Testing backwards expansion".
#pragma once

#include <algorithm>
#include <cstddef>

#include "mallard/core/boundary_tag.hpp"
#include "mallard/heap/best_fit/joined_blocks.hpp"
#include "mallard/heap/best_fit/multiples.hpp"

namespace mallard {

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

// Bytes, of those that `unit` allows, that a block takes from the `room` before it to become `missing` bytes
// larger, or as large as it can.
[[nodiscard]] inline std::size_t bytes_before(std::size_t room, std::size_t missing,
                                              const multiples& unit) noexcept {
  std::size_t taken = missing <= room ? unit.up(missing) : unit.down(room);
  if (taken > room) taken = unit.down(room);
  if (boundary_tag::can_take(taken, room)) return taken;
  // The few bytes that would be left are no block.
  return taken + unit.least() == room ? room : taken - unit.least();
}

// The block, or the one that it has become, with at least `limit` bytes; null, and nothing has changed, where
// that cannot be. `step`: what its begin moves by, a multiple of; `behind`: whether it may grow that way,
// too. Precondition: limit <= preferred.
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
