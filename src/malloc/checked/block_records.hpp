// block_records: what is kept of each block, away from all blocks, and the canaries beside it.
//
//     segment n     [ block 0 | block 1 | block 2 ... ]         a block: [ canary | the caller's | canary
//     .... ] row n         [ rec. 0 | rec. 1 | rec. 2 ... ]            32 bytes each, in a range of their own
//
// A segment of 64 KiB has a row of records, and a block finds its own by its place among the blocks of its
// slab: a multiplication. No overflow reaches a record, and an address leads to one wherever it points, so no
// pointer is trusted before its record says that a block begins there. Invariant: a record that is live or
// freed belongs to a block that the heap has handed out, and whose memory stays readable or is forbidden as
// the record says. One that is `ending` is being freed. One that is `gone` is of a block that the heap gets
// again; it can be read until the memory is used again.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/pattern.hpp"
#include "mallard/source/address_range.hpp"
#include "malloc/checked/call_stacks.hpp"
#include "malloc/checked/reports.hpp"
#include "malloc/heap_of_thread.hpp"

namespace mallard::malloc_library {

inline constexpr std::size_t page = 4096;
inline constexpr std::size_t canary = 16;
inline constexpr std::size_t most_front = 4096;  // bytes of a front canary

enum class state : std::uint8_t { none, live, ending, freed, gone };

// What is set at once, so that a record that is not in the cache need not be read for it.
struct block_marks {
  std::uint8_t align_log : 6 = 0;
  bool is_aligned : 1 = false;
  bool is_sampled : 1 = false;
  bool is_protected : 1 = false;
  bool is_reached : 1 = false;  // by a pointer, when the process ended
  std::uint8_t unused : 6 = 0;  // else these bits of the record would be kept
};

struct block_record : block_marks {
  std::atomic<state> is{};
  family of = family::of_malloc;
  std::uint32_t place = 0;  // of the block, to tell it from one of another size before it
  std::size_t size = 0;
  stack_number allocated = 0;
  stack_number freed = 0;
  block_record* next = nullptr;  // among those that were reached (leaks)
};
static_assert(sizeof(block_record) == 32);

inline constexpr std::size_t least_block = 48;
// Of a segment: as many records as it has of the smallest blocks, in whole pages.
inline constexpr std::size_t row_bytes =
    align_up(shared_segments::segment_bytes / least_block * sizeof(block_record), page);

extern address_range records;
extern futex_mutex records_mutex;      // held while the process forks
extern std::atomic<std::size_t> rows;  // that are memory

// Makes the row of segment `n` memory; false if there is none.
[[nodiscard]] bool map_row(std::size_t n) noexcept;

// A block of the heap, and what is kept of it.
struct place {
  segment* s = nullptr;
  std::byte* begin = nullptr;
  block_record* record = nullptr;

  explicit operator bool() const noexcept { return record != nullptr; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return s->use == segment_use::large ? s->bytes : s->size;
  }
  [[nodiscard]] std::byte* end() const noexcept { return begin + bytes(); }
  [[nodiscard]] std::uint32_t mark() const noexcept {
    return static_cast<std::uint32_t>(address_of(begin) / default_align);
  }
  // Whether the record is of this block.
  [[nodiscard]] bool is_known() const noexcept {
    return record->is.load(std::memory_order_acquire) != state::none && record->place == mark();
  }
  [[nodiscard]] std::size_t align() const noexcept { return std::size_t{1} << record->align_log; }
  // A sampled block ends where the last page of its segment begins.
  [[nodiscard]] std::byte* data() const noexcept {
    if (record->is_sampled)
      return begin + align_down(shared_segments::segment_bytes - page - record->size, align());
    return begin + std::max(canary, align());
  }
  // The bytes in front of the caller's and behind, up to what may be accessed.
  [[nodiscard]] std::byte* front() const noexcept {
    std::byte* const first = record->is_sampled ? page_of(data()) : begin;
    return std::max(first, data() - most_front);
  }
  [[nodiscard]] std::byte* back_end() const noexcept {
    return record->is_sampled ? begin + shared_segments::segment_bytes - page : end();
  }
  // The page that an address of the block lies in.
  [[nodiscard]] std::byte* page_of(std::byte* p) const noexcept {
    return begin + align_down(static_cast<std::size_t>(p - begin), page);
  }
};

// 2^32 over the size of each class, rounded up: a multiplication by it divides the offsets within a segment.
inline constexpr auto inverse_sizes = [] {
  std::array<std::uint32_t, heap::classes::count> inverses{};
  for (std::size_t i = 0; i != inverses.size(); ++i)
    inverses[i] = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) - 1) / heap::classes::size(i) + 1);
  return inverses;
}();

// The block of a slab, or the large one, that begins in `s` and has byte `offset` of it.
MALLARD_INLINE place place_in(segment* s, std::size_t offset) noexcept {
  const std::size_t n = the_segments.number_of(s);
  if (n >= rows.load(std::memory_order_acquire)) [[unlikely]]
    return {};
  std::size_t index = 0;
  std::byte* begin = the_segments.start_of(s);
  if (s->use == segment_use::slab) [[likely]] {
    const std::uint32_t size = s->size;
    if (size < least_block) return {};  // 0 of one that another thread has just taken
    index = offset * inverse_sizes[s->index] >> 32;
    if (index >= s->capacity) return {};
    begin += index * size;
  } else if (s->use != segment_use::large) {
    return {};
  }
  auto* const row = reinterpret_cast<block_record*>(records.begin() + n * row_bytes);
  return {s, begin, row + index};
}

// The block at `p`; the address may be any.
MALLARD_INLINE place place_of(const void* p) noexcept {
  segment* const s = the_segments.find(p);
  if (s == nullptr) [[unlikely]]
    return {};
  return place_in(s, address_of(p) % shared_segments::segment_bytes);
}

// The same for an address anywhere in a large block.
[[nodiscard]] place place_around(const void* p) noexcept;

// The block of a record.
[[nodiscard]] MALLARD_INLINE place place_of(block_record* r) noexcept {
  const auto at = static_cast<std::size_t>(reinterpret_cast<std::byte*>(r) - records.begin());
  segment* const s = the_segments.at(at / row_bytes);
  const std::size_t index = at % row_bytes / sizeof(block_record);
  std::byte* const begin = the_segments.start_of(s) + (s->use == segment_use::slab ? index * s->size : 0);
  return {s, begin, r};
}

[[nodiscard]] block_facts facts_of(const place& b) noexcept;

// --- canaries ---

MALLARD_INLINE std::uint64_t word_of(const std::byte* p) noexcept {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}
inline constexpr std::uint64_t canary_word =
    0x0101010101010101u * static_cast<std::uint64_t>(pattern::canary);

MALLARD_INLINE void fill_canary(std::byte* p) noexcept {
  __builtin_memcpy(p, &canary_word, sizeof canary_word);
  __builtin_memcpy(p + sizeof canary_word, &canary_word, sizeof canary_word);
}
MALLARD_INLINE bool is_canary(const std::byte* p) noexcept {
  return ((word_of(p) ^ canary_word) | (word_of(p + sizeof canary_word) ^ canary_word)) == 0;
}

inline std::size_t bytes_between(const std::byte* from, const std::byte* to) noexcept {
  return static_cast<std::size_t>(to - from);
}

// A block's caller's bytes, and what lies in front of them and behind.
struct sides {
  std::byte* front;
  std::byte* data;
  std::byte* behind;
  std::byte* end;
};
MALLARD_INLINE sides sides_of(const place& b) noexcept {
  if (b.record->is_sampled || b.align() > canary) [[unlikely]]
    return {b.front(), b.data(), b.data() + b.record->size, b.back_end()};
  return {b.begin, b.begin + canary, b.begin + canary + b.record->size, b.end()};
}

MALLARD_INLINE void fill_sides(const sides& b) noexcept {
  if (bytes_between(b.front, b.data) == canary) [[likely]]
    fill_canary(b.front);
  else
    fill(b.front, bytes_between(b.front, b.data), pattern::canary);
  const std::size_t bytes = bytes_between(b.behind, b.end);
  if (bytes - canary <= canary) [[likely]] {
    fill_canary(b.behind);
    fill_canary(b.end - canary);
  } else {
    fill(b.behind, bytes, pattern::canary);
  }
}

MALLARD_INLINE bool are_sides_whole(const sides& b) noexcept {
  if (bytes_between(b.front, b.data) == canary) [[likely]] {
    if (!is_canary(b.front)) return false;
  } else if (first_other(b.front, bytes_between(b.front, b.data), pattern::canary) != nullptr) {
    return false;
  }
  const std::size_t bytes = bytes_between(b.behind, b.end);
  if (bytes - canary <= canary) [[likely]]
    return is_canary(b.behind) && is_canary(b.end - canary);
  return first_other(b.behind, bytes, pattern::canary) == nullptr;
}

// Reports what has changed beside a block, and repairs it.
void report_sides(const place& b, const char* function, stack_number now) noexcept;

// Bytes from the first to the last one that has changed.
inline std::size_t changed_bytes(const std::byte* first, const std::byte* end, pattern with) noexcept {
  while (end != first && end[-1] == static_cast<std::byte>(with)) --end;
  return bytes_between(first, end);
}

// Calls f(place) for each block that a record is known of.
template <class F>
void for_each_known(F f) noexcept {
  for (std::size_t n = 1;;) {
    segment* const s = the_segments.find(the_segments.start_of(the_segments.at(n)));
    if (s == nullptr || n >= rows.load(std::memory_order_acquire)) return;
    if (s->use == segment_use::slab)
      for (std::size_t i = 0; i < s->capacity; ++i) {  // which may change meanwhile
        const place b = place_in(s, i * s->size);
        if (b && b.is_known()) f(b);
      }
    if (s->use == segment_use::large)
      if (const place b = place_in(s, 0); b && b.is_known()) f(b);
    n += std::max(s->length, 1u);
  }
}

}  // namespace mallard::malloc_library
