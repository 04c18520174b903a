// ring_record: one event as it stands in a ring, a few words of 8 bytes.
//
//     word 0   [time:55 | timed:1 | extra:1 | site:1 | kind:6]
//     word 1   address; of a region event its region
//     then, as the bits say, in this order:
//     site     [context:32 | size:32]
//     size     if it did not fit into the site, which then has all its bits set
//     extra    alignment; of a reallocation the old address; of region events the address, or the parent
//     timed    ticks that the real call took
//
// A context is a number of the spool's context table (spool.hpp), 0 if nothing is known. Time is in
// ticks since recording began: 55 bits last for four months at 3 GHz. A thread's beginning and end are
// records too: word 1 is [number:32 | system id:32]. What the recorder saw around a call stands behind
// its event as a snapshot of a fixed number of words. A launcher reads what a program of the same build
// writes, on the same machine, so this is no part of the file format.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/journal/event.hpp"

namespace mallard::journal {

inline constexpr unsigned kind_mask = 0x3f;
inline constexpr unsigned site_bit = 0x40;
inline constexpr unsigned extra_bit = 0x80;
inline constexpr unsigned timed_bit = 0x100;
inline constexpr unsigned time_shift = 9;

// Records that are no events, in the unused upper end of the kinds.
inline constexpr unsigned snapshot_record = 61;
inline constexpr unsigned thread_begin = 62;  // the records that follow are this thread's
inline constexpr unsigned thread_end = 63;

inline constexpr std::size_t snapshot_registers = 6;     // callee-saved ones: rbx, rbp, r12 to r15
inline constexpr std::size_t snapshot_stack_words = 20;  // above the return address
inline constexpr std::size_t snapshot_words = 1 + snapshot_registers + snapshot_stack_words;

inline constexpr std::uint32_t timed_every = 64;  // calls, of which one is timed; a power of two

inline constexpr std::size_t max_record_words = snapshot_words;
inline constexpr std::size_t max_event_words = 6;

inline constexpr std::uint64_t large_size = UINT32_MAX;  // in a site: the size is the next word

[[nodiscard]] constexpr std::uint64_t first_word(unsigned kind_and_bits, std::uint64_t time) noexcept {
  return time << time_shift | kind_and_bits;
}

[[nodiscard]] constexpr std::uint64_t site_word(std::uint32_t context, std::uint64_t size) noexcept {
  return std::uint64_t{context} << 32 | (size < large_size ? size : large_size);
}

}  // namespace mallard::journal
