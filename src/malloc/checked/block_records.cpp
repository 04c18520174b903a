#include "malloc/checked/block_records.hpp"

#include <errno.h>

#include <mutex>

namespace mallard::malloc_library {

constinit address_range records;
constinit futex_mutex records_mutex;
constinit std::atomic<std::size_t> rows = 0;

MALLARD_NOINLINE bool map_row(std::size_t n) noexcept {
  const std::lock_guard guard(records_mutex);
  const std::size_t present = rows.load(std::memory_order_relaxed);
  if (n < present) return true;
  constexpr std::size_t rows_at_once = 64;
  const int saved_errno = errno;
  if (present == 0 && !records.open(std::size_t{1} << 38, std::size_t{1} << 26, std::size_t{1} << 16))
    return false;
  const std::size_t wanted = n / rows_at_once * rows_at_once + rows_at_once;
  if (wanted * row_bytes > records.size() ||
      !records.extend(records.begin() + present * row_bytes, (wanted - present) * row_bytes))
    return false;
  rows.store(wanted, std::memory_order_release);
  errno = saved_errno;
  return true;
}

place place_around(const void* p) noexcept {
  segment* s = the_segments.find(p);
  if (s == nullptr || s->use == segment_use::slab) return place_of(p);
  const segment* const at = s;
  while (s->use == segment_use::none && the_segments.number_of(s) != 0) --s;
  if (s->use != segment_use::large || at - s >= s->length) return {};
  return place_in(s, 0);
}

block_facts facts_of(const place& b) noexcept {
  const block_record& r = *b.record;
  const bool is_live = r.is.load(std::memory_order_relaxed) == state::live;
  return {b.data(), r.size, b.align(), r.of, r.is_aligned, r.allocated, is_live ? 0 : r.freed};
}

MALLARD_NOINLINE void report_sides(const place& b, const char* function, stack_number now) noexcept {
  const block_facts facts = facts_of(b);
  const std::byte* const data = facts.data;
  const std::byte* const behind = data + facts.size;
  const auto check = [&](misuse what, const std::byte* from, const std::byte* end) {
    const std::byte* const first = first_other(from, bytes_between(from, end), pattern::canary);
    if (first == nullptr) return;
    report({.what = what,
            .pointer = first,
            .block = &facts,
            .now = now,
            .function = function,
            .count = changed_bytes(first, end, pattern::canary)});
  };
  check(facts.freed != 0 ? misuse::written_after_free : misuse::written_before, b.front(), data);
  check(facts.freed != 0 ? misuse::written_after_free : misuse::written_behind, behind, b.back_end());
  fill_sides(sides_of(b));
}

}  // namespace mallard::malloc_library
