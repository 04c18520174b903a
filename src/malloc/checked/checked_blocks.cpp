#include "malloc/checked/checked_blocks.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/light_mutex.hpp"
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

// The next block of the slab that `last` is of, and its record, come into the cache meanwhile.
MALLARD_INLINE void prefetch_next(const place& last) noexcept {
  if (last.s->use != segment_use::slab) return;
  const void* const next = last.s->free;
  __builtin_prefetch(next, 1);
  __builtin_prefetch(place_in(last.s, address_of(next) % shared_segments::segment_bytes).record, 1);
}

MALLARD_INLINE made_block try_make(std::size_t size, std::size_t align, const way& by,
                                   stack_number now) noexcept {
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
  place b = place_of(begin);
  if (!b) [[unlikely]] {
    if (!map_row(the_segments.number_of(the_segments.find(begin)))) return h->deallocate(begin), made_block{};
    b = place_of(begin);
  }
  prefetch_next(b);
  block_record& r = *b.record;
  r.size = size;
  r.allocated = now;
  r.freed = 0;
  r.place = b.mark();
  r.of = by.of;
  block_marks marks;
  marks.align_log = static_cast<std::uint8_t>(std::countr_zero(align)) & 63;
  marks.is_aligned = by.is_aligned;
  marks.is_sampled = is_sampled;
  static_cast<block_marks&>(r) = marks;
  if (is_sampled && !protect_sides(b)) r.is_sampled = false;  // an ordinary one, then
  const sides at = sides_of(b);
  fill_sides(at);
  r.is.store(state::live, std::memory_order_release);
  return {at.data, is_zero};
}

// What waits to be used again takes memory, too: address space, which may be limited in a process, more than
// pages.
MALLARD_NOINLINE made_block make_of_waiting(std::size_t size, std::size_t align, const way& by,
                                            stack_number now) noexcept {
  return let_all_go(size, by.function, now) ? try_make(size, align, by, now) : made_block{};
}

MALLARD_INLINE made_block make(std::size_t size, std::size_t align, const way& by,
                               stack_number now) noexcept {
  const made_block made = try_make(size, align, by, now);
  return made.data != nullptr ? made : make_of_waiting(size, align, by, now);
}

void* make_or_fail(std::size_t size, std::size_t align, const way& by, stack_number now) noexcept {
  const made_block made = make(size, align, by, now);
  return made.data != nullptr ? made.data : failed();
}

// --- what is given back -------------------------------------------------------------------------

// The C library's heap: a library may have called its malloc by another name.
constinit std::byte* first_break = nullptr;
bool is_of_c_library(const void* p) noexcept {
  return the_segments.find(p) == nullptr && first_break != nullptr && p >= first_break &&
         p < static_cast<std::byte*>(::sbrk(0));
}

MALLARD_NOINLINE void report_invalid(const void* p, const char* function, stack_number now) noexcept {
  const place b = place_around(p);
  block_facts facts;
  const bool is_near = b && b.is_known() && b.record->is.load(std::memory_order_relaxed) != state::none;
  if (is_near) facts = facts_of(b);
  report({.what = misuse::foreign_pointer,
          .pointer = p,
          .block = is_near ? &facts : nullptr,
          .now = now,
          .function = function});
}

MALLARD_NOINLINE void report_double(const place& b, const char* function, stack_number now) noexcept {
  const block_facts facts = facts_of(b);
  report({.what = misuse::double_free,
          .pointer = facts.data,
          .block = &facts,
          .now = now,
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

// Whether the block at `p`, where `b` should be, is live; otherwise reports.
MALLARD_INLINE bool is_live(const place& b, const void* p, const char* function, stack_number now) noexcept {
  if (!b || !b.is_known() || b.data() != p) [[unlikely]]
    return report_invalid(p, function, now), false;
  if (b.record->is.load(std::memory_order_acquire) != state::live) [[unlikely]]
    return report_double(b, function, now), false;
  return true;
}

// What a caller gives back: the block at `p`, or none, and the caller's stack. The record and the end of the
// block come into the cache while the stack is walked.
struct given_back {
  place b;
  stack_number now;
};
MALLARD_INLINE given_back find_given_back(const void* p, const walk_start& caller) noexcept {
  const place b = place_of(p);
  if (b) [[likely]] {
    __builtin_prefetch(b.record, 1);
    __builtin_prefetch(b.end() - 1);
  }
  return {b, stack_of(caller)};
}

MALLARD_INLINE void check_sides(const place& b, const char* function, stack_number now) noexcept {
  if (!are_sides_whole(sides_of(b))) [[unlikely]]
    report_sides(b, function, now);
}

// Whether this call ends the block: of two at the same time, one does. While there is one thread, nothing is
// locked: that would wait until all stores before have reached the cache.
MALLARD_INLINE bool begin_to_end(block_record& r) noexcept {
  if (light_mutex::is_alone()) {
    if (r.is.load(std::memory_order_relaxed) != state::live) return false;
    r.is.store(state::ending, std::memory_order_relaxed);
    return true;
  }
  state expected = state::live;
  return r.is.compare_exchange_strong(expected, state::ending);
}

MALLARD_INLINE void end(const place& b, const char* function, stack_number now) noexcept {
  block_record& r = *b.record;
  check_sides(b, function, now);
  if (!begin_to_end(r)) [[unlikely]]
    return report_double(b, function, now);
  r.freed = now;
  put_aside(b, function, now);
}

}  // namespace

void* allocate(std::size_t size, std::size_t align, const way& by, const walk_start& caller) noexcept {
  return make_or_fail(size, align, by, stack_of(caller));
}

void* allocate_zeroed(std::size_t size, const way& by, const walk_start& caller) noexcept {
  const made_block made = make(size, default_align, by, stack_of(caller));
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
  const auto [b, now] = find_given_back(p, caller);
  if (!is_live(b, p, by.function, now)) return;
  if (!is_match(*b.record, size, align, by)) [[unlikely]]
    report_mismatch(b, size, align, by, now);
  end(b, by.function, now);
}

void* reallocate(void* p, std::size_t size, const way& by, const walk_start& caller) noexcept {
  if (p == nullptr) return allocate(size, default_align, by, caller);
  if (is_of_c_library(p) && __libc_realloc != nullptr) [[unlikely]]
    return __libc_realloc(p, size);
  if (size == 0) return deallocate(p, unknown_size, 0, by, caller), nullptr;
  const auto [b, now] = find_given_back(p, caller);
  if (!is_live(b, p, by.function, now))
    return make_or_fail(size, default_align, by, now);  // with what it points to unknown
  if (b.record->of != by.of) report_mismatch(b, unknown_size, 0, by, now);
  void* const moved = make_or_fail(size, default_align, by, now);
  if (moved == nullptr) return moved;
  ::memcpy(moved, p, std::min(size, b.record->size));
  end(b, by.function, now);
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

// Where the frames of what is called next will lie, what was called before may have left addresses of blocks.
MALLARD_NOINLINE void wipe_stack_below() noexcept {
  volatile std::byte bytes[4096];
  for (volatile std::byte& each : bytes) each = std::byte{};
}

// Behind all destructors: what they free is no leak, and they are the last that can misuse a block. With a
// code of its own the process goes on to exit from here, as the C library lets a handler do; to flush all
// files first would wait for a thread that reads one.
void at_exit(void*) noexcept {
  stop_reuse();
  check_all();
  if (reports_leaks) {
    wipe_stack_below();
    report_leaks();
  }
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
