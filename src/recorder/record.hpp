// record: one event as it stands in a ring, a few words of 8 bytes.
//
//     word 0                       1        2        3      4           5
//     [time:56|caller:1|..|kind:6] address  caller?  size?  alignment?  old address?
//
// The kind says which of size, alignment and old address follow; the caller follows where its bit is
// set. Time is in ticks since recording began: 56 bits last for nine months at 3 GHz. A thread's
// beginning and end are records too: word 1 is [number:32|system id:32]. The launcher reads what the
// program writes, on the same machine and from the same build, so this is no part of the file format.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/journal/event.hpp"

namespace mallard::recorder {

using journal::event_kind;

inline constexpr unsigned kind_mask = 0x3f;
inline constexpr unsigned caller_bit = 0x80;
inline constexpr unsigned time_shift = 8;

// Records that are no events, in the unused upper end of the kinds.
inline constexpr unsigned thread_begin = 62;  // the records that follow are this thread's
inline constexpr unsigned thread_end = 63;

inline constexpr std::size_t max_record_words = 6;

[[nodiscard]] constexpr bool has_size(event_kind k) noexcept {
  return journal::is_allocation(k) || journal::is_reallocation(k) || k == event_kind::free_sized ||
         k == event_kind::free_aligned_sized;
}

[[nodiscard]] constexpr bool has_alignment(event_kind k) noexcept {
  return k == event_kind::posix_memalign || k == event_kind::aligned_alloc || k == event_kind::memalign ||
         k == event_kind::free_aligned_sized;
}

[[nodiscard]] constexpr bool has_old_address(event_kind k) noexcept { return journal::is_reallocation(k); }

// Word 0 of a record of `kind`; the caller's bit is or-ed in by whoever writes a caller.
[[nodiscard]] constexpr std::uint64_t first_word(unsigned kind, std::uint64_t time) noexcept {
  return time << time_shift | kind;
}

// Words that the record beginning with `first` takes.
[[nodiscard]] constexpr std::size_t record_words(std::uint64_t first) noexcept {
  const auto kind = static_cast<event_kind>(first & kind_mask);
  return 2u + ((first & caller_bit) != 0) + has_size(kind) + has_alignment(kind) + has_old_address(kind);
}

[[nodiscard]] constexpr bool is_known_record(std::uint64_t first) noexcept {
  const auto code = static_cast<unsigned>(first & kind_mask);
  const auto kind = static_cast<event_kind>(code);
  return journal::is_allocation(kind) || journal::is_reallocation(kind) || journal::is_free(kind) ||
         code == thread_begin || code == thread_end;
}

}  // namespace mallard::recorder
