#include "malloc/checked/checked_blocks.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "mallard/core/align.hpp"
#include "malloc/checked/block_records.hpp"
#include "malloc/checked/quarantine.hpp"
#include "malloc/options.hpp"

// The C library's own; absent where that is linked statically.
extern "C" {
[[gnu::weak]] void __libc_free(void* p);
[[gnu::weak]] void* __libc_realloc(void* p, std::size_t size);
}
extern "C" int __cxa_atexit(void (*f)(void*), void* with, void* library) noexcept;

namespace mallard::malloc_library {
namespace {

constinit std::size_t one_in = 0;  // blocks is sampled; 0: none
__thread std::size_t until_sample = 0;

void* failed() noexcept {
  errno = ENOMEM;
  return nullptr;
}

bool is_sample() noexcept {
  if (until_sample == 0) until_sample = one_in;
  return --until_sample == 0;
}

struct made_block {
  std::byte* data = nullptr;
  bool is_zero = false;
};

MALLARD_INLINE made_block make(std::size_t size, std::size_t align, const way& by,
                               const walk_start& caller) noexcept {
  align = std::max(align, default_align);
  if (size > max_request / 2 || align > max_request / 4) return {};
  const std::size_t whole = std::max(canary, align) + size + static_cast<std::size_t>(size == 0) + canary;
  const bool is_sampled = one_in != 0 && size <= 32768 && align <= page && is_sample();
  const borrowed_heap h;
  if (!h) return {};
  void* begin = nullptr;
  bool is_zero = false;
  if (is_sampled || whole > heap::classes::largest) {
    segment* const s = h->allocate_large(is_sampled ? shared_segments::segment_bytes : whole, align);
    if (s == nullptr) return {};
    is_zero = s->is_zero;
    begin = the_segments.start_of(s);
  } else {
    begin = h->allocate(whole, align).data;
    if (begin == nullptr) return {};
  }
  const std::size_t n = the_segments.number_of(the_segments.find(begin));
  if (n >= rows.load(std::memory_order_acquire)) [[unlikely]]
    if (!map_row(n)) return h->deallocate(begin), made_block{};
  const place b = place_of(begin);
  block_record& r = *b.record;
  r.size = size;
  r.allocated = stack_of(caller);
  r.freed = 0;
  r.place = b.mark();
  r.of = by.of;
  r.align_log = static_cast<std::uint8_t>(std::countr_zero(align)) & 63;
  r.is_aligned = by.is_aligned;
  r.is_sampled = is_sampled;
  r.is_protected = false;
  r.is_reached = false;
  if (is_sampled && !protect_sides(b)) r.is_sampled = false;  // an ordinary one, then
  const sides at = sides_of(b);
  fill_sides(at);
  r.is.store(state::live, std::memory_order_release);
  return {at.data, is_zero};
}

// What waits to be used again takes memory, too: address space, which may be limited in a process, more than
// pages.
MALLARD_NOINLINE made_block make_of_waiting(std::size_t size, std::size_t align, const way& by,
                                            const walk_start& caller) noexcept {
  return let_all_go(size, by.function, stack_of(caller)) ? make(size, align, by, caller) : made_block{};
}

// --- what is given back -------------------------------------------------------------------------

// The C library's heap: a library may have called its malloc by another name.
constinit std::byte* first_break = nullptr;
bool is_of_c_library(const void* p) noexcept {
  return the_segments.find(p) == nullptr && first_break != nullptr && p >= first_break &&
         p < static_cast<std::byte*>(::sbrk(0));
}

MALLARD_NOINLINE void report_invalid(const void* p, const char* function, const walk_start& caller) noexcept {
  const place b = place_around(p);
  block_facts facts;
  const bool is_near = b && b.is_known() && b.record->is.load(std::memory_order_relaxed) != state::none;
  if (is_near) facts = facts_of(b);
  report({.what = misuse::foreign_pointer,
          .pointer = p,
          .block = is_near ? &facts : nullptr,
          .now = stack_of(caller),
          .function = function});
}

MALLARD_NOINLINE void report_double(const place& b, const char* function, const walk_start& caller) noexcept {
  const block_facts facts = facts_of(b);
  report({.what = misuse::double_free,
          .pointer = facts.data,
          .block = &facts,
          .now = stack_of(caller),
          .function = function});
}

MALLARD_NOINLINE void report_mismatch(const place& b, std::size_t size, std::size_t align, const way& by,
                                      stack_number now) noexcept {
  const block_facts facts = facts_of(b);
  finding found{.what = misuse::wrong_family,
                .pointer = facts.data,
                .block = &facts,
                .now = now,
                .function = by.function,
                .size = size,
                .align = align};
  if (facts.allocated_by == by.of && facts.is_aligned == by.is_aligned)
    found.what = size != unknown_size && size != facts.size ? misuse::wrong_size : misuse::wrong_align;
  report(found);
}

// The functions of malloc that take an alignment give blocks to free() as well.
MALLARD_INLINE bool is_match(const block_record& r, std::size_t size, std::size_t align,
                             const way& by) noexcept {
  if (r.of != by.of) return false;
  if (size != unknown_size && size != r.size) return false;
  if (r.is_aligned != by.is_aligned && (by.of != family::of_malloc || size != unknown_size)) return false;
  return align == 0 || std::max(align, default_align) == std::size_t{1} << r.align_log;
}

// The block at `p`, if it is live; otherwise reports.
MALLARD_INLINE place live_at(void* p, const char* function, const walk_start& caller) noexcept {
  const place b = place_of(p);
  if (!b || !b.is_known() || b.data() != p) [[unlikely]]
    return report_invalid(p, function, caller), place{};
  if (b.record->is.load(std::memory_order_acquire) != state::live) [[unlikely]]
    return report_double(b, function, caller), place{};
  return b;
}

MALLARD_INLINE void check_sides(const place& b, const char* function, const walk_start& caller) noexcept {
  if (!are_sides_whole(sides_of(b))) [[unlikely]]
    report_sides(b, function, stack_of(caller));
}

// The call that ends a block, of two at the same time, is the first.
MALLARD_INLINE void end(const place& b, const char* function, const walk_start& caller) noexcept {
  block_record& r = *b.record;
  const stack_number now = stack_of(caller);
  check_sides(b, function, caller);
  state expected = state::live;
  if (!r.is.compare_exchange_strong(expected, state::ending)) return report_double(b, function, caller);
  r.freed = now;
  put_aside(b, function, now);
}

}  // namespace

void* allocate(std::size_t size, std::size_t align, const way& by, const walk_start& caller) noexcept {
  made_block made = make(size, align, by, caller);
  if (made.data == nullptr) [[unlikely]]
    made = make_of_waiting(size, align, by, caller);
  return made.data != nullptr ? made.data : failed();
}

void* allocate_zeroed(std::size_t size, const way& by, const walk_start& caller) noexcept {
  made_block made = make(size, default_align, by, caller);
  if (made.data == nullptr) [[unlikely]]
    made = make_of_waiting(size, default_align, by, caller);
  if (made.data == nullptr) return failed();
  return made.is_zero ? made.data : ::memset(made.data, 0, size);
}

void deallocate(void* p, std::size_t size, std::size_t align, const way& by,
                const walk_start& caller) noexcept {
  if (p == nullptr) return;
  if (is_of_c_library(p)) [[unlikely]] {
    if (__libc_free != nullptr) __libc_free(p);
    return;
  }
  const place b = live_at(p, by.function, caller);
  if (!b) return;
  if (!is_match(*b.record, size, align, by)) [[unlikely]]
    report_mismatch(b, size, align, by, stack_of(caller));
  end(b, by.function, caller);
}

void* reallocate(void* p, std::size_t size, const way& by, const walk_start& caller) noexcept {
  if (p == nullptr) return allocate(size, default_align, by, caller);
  if (is_of_c_library(p) && __libc_realloc != nullptr) [[unlikely]]
    return __libc_realloc(p, size);
  if (size == 0) return deallocate(p, unknown_size, 0, by, caller), nullptr;
  const place b = live_at(p, by.function, caller);
  if (!b) return allocate(size, default_align, by, caller);  // with what it points to unknown
  if (b.record->of != by.of) report_mismatch(b, unknown_size, 0, by, stack_of(caller));
  void* const moved = allocate(size, default_align, by, caller);
  if (moved == nullptr) return moved;
  ::memcpy(moved, p, std::min(size, b.record->size));
  end(b, by.function, caller);
  return moved;
}

std::size_t requested_size(const void* p) noexcept {
  const place b = place_of(p);
  return b && b.is_known() && b.record->is.load() == state::live && b.data() == p ? b.record->size : 0;
}

bool is_of_heap(const void* p) noexcept {
  return the_segments.find(p) != nullptr || p == the_segments.at(0) || p == records.begin();
}

namespace {
constinit block_record* last_reached = nullptr;  // those that nobody has looked at, by `next`
}

void reach(const void* p) noexcept {
  if (the_segments.find(p) == nullptr) [[likely]]
    return;
  const place b = place_around(p);
  if (!b || !b.is_known() || b.record->is_reached || b.record->is != state::live) return;
  const std::byte* const data = b.data();
  if (p < data || p > data + b.record->size) return;
  b.record->is_reached = true;
  b.record->next = std::exchange(last_reached, b.record);
}

live_block next_reached() noexcept {
  if (last_reached == nullptr) return {};
  const place b = place_of(std::exchange(last_reached, last_reached->next));
  return {b.data(), b.record->size, b.record->allocated};
}

void for_each_unreached(void (*f)(const live_block&, void*), void* with) noexcept {
  for_each_known([&](const place& b) {
    if (b.record->is == state::live && !b.record->is_reached)
      f({b.data(), b.record->size, b.record->allocated}, with);
  });
}

// A block that another thread ends meanwhile changes its state before its bytes, and after stop_reuse() stays
// memory.
void check_all() noexcept {
  for_each_known([](const place& b) {
    const state before = b.record->is.load();
    const bool is_whole = before == state::live    ? are_sides_whole(sides_of(b))
                          : before == state::freed ? is_as_freed(b)
                                                   : true;
    if (is_whole || b.record->is.load(std::memory_order_acquire) != before) return;
    if (before == state::live)
      report_sides(b, nullptr, 0);
    else
      report_written(b, nullptr, 0);
  });
}

namespace {

constinit bool reports_leaks = false;

// Behind all destructors: what they free is no leak, and they are the last that can misuse a block. With a
// code of its own the process goes on to exit from here, as the C library lets a handler do; to flush all
// files first would wait for a thread that reads one.
void at_exit(void*) noexcept {
  stop_reuse();
  check_all();
  if (reports_leaks) report_leaks();
  if (const int code = summarise(); code != 0) ::exit(code);
}

[[gnu::constructor(103)]] void prepare() noexcept {
  first_break = static_cast<std::byte*>(::sbrk(0));
  hold_over_forks(records_mutex);
  hold_over_forks(quarantine_mutex);
  prepare_reports();
  one_in = option("MALLARD_MALLOC_GUARD", 0);
  keep_freed(option("MALLARD_MALLOC_QUARANTINE", default_quarantine));
  keep_frames(option("MALLARD_MALLOC_FRAMES", 16));
  reports_leaks = option("MALLARD_MALLOC_LEAKS", 0) != 0;
  // Of no library: so it comes behind the destructors of them all.
  (void)__cxa_atexit(at_exit, nullptr, nullptr);
}

}  // namespace

}  // namespace mallard::malloc_library
