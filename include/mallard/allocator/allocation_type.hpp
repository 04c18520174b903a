// allocation_type: what an allocation_command may do, as a set of bits.
//
//     allocate_new | expand_fwd | expand_bwd     grow: one of them, in the order forward, backward, new
//     shrink_in_place, try_shrink_in_place       give the end of a block back
//     | nothrow_allocation                       null where else an exception would say so
//
// The numbers are those of Boost.Container's commands, which are passed on as they come. Seed 001, "New
// functions for expansion capabilities".
#pragma once

namespace mallard {

using allocation_type = unsigned;

namespace commands {

inline constexpr allocation_type allocate_new = 0x01;
inline constexpr allocation_type expand_fwd = 0x02;
inline constexpr allocation_type expand_bwd = 0x04;
inline constexpr allocation_type shrink_in_place = 0x08;
inline constexpr allocation_type nothrow_allocation = 0x10;
inline constexpr allocation_type try_shrink_in_place = 0x40;

}  // namespace commands

}  // namespace mallard
