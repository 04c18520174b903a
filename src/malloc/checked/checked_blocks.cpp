#include "malloc/checked/checked_blocks.hpp"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/pattern.hpp"
#include "mallard/source/address_range.hpp"
#include "malloc/options.hpp"

// The C library's own; absent where that is linked statically.
extern "C" {
[[gnu::weak]] void __libc_free(void* p);
}
extern "C" int __cxa_atexit(void (*f)(void*), void* with, void* library) noexcept;

namespace mallard::malloc_library {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t canary = 16;
constexpr std::size_t most_front = 4096;            // bytes of a front canary
constexpr std::size_t least_protected = 256 << 10;  // bytes of a block that waits without access
constexpr std::size_t protected_share = 64;         // of whose bytes one counts for the quarantine

enum class state : std::uint8_t { none, live, freed, gone };

struct block_record {
  std::size_t size = 0;
  block_record* next = nullptr;  // among those that were reached (leaks)
  stack_number allocated = 0;
  stack_number freed = 0;
  std::uint32_t place = 0;  // of the block, to tell it from one of another size before it
  std::atomic<state> is{};
  family of = family::of_malloc;
  std::uint8_t align_log : 6 = 0;
  bool is_aligned : 1 = false;
  bool is_sampled : 1 = false;
  bool is_protected : 1 = false;
  bool is_reached : 1 = false;  // by a pointer, when the process ended
};
static_assert(sizeof(block_record) == 32);

// --- records ------------------------------------------------------------------------------------

constexpr std::size_t least_block = 48;
// Of a segment: as many records as it has of the smallest blocks, in whole pages.
constexpr std::size_t row_bytes =
    align_up(shared_segments::segment_bytes / least_block * sizeof(block_record), page);
constexpr std::size_t rows_at_once = 64;

constinit address_range records;
constinit futex_mutex records_mutex;
constinit std::atomic<std::size_t> rows = 0;  // that are memory

// Makes the row of segment `n` memory.
MALLARD_NOINLINE bool map_row(std::size_t n) noexcept {
  const std::lock_guard guard(records_mutex);
  const std::size_t present = rows.load(std::memory_order_relaxed);
  if (n < present) return true;
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

// The block of a slab, or the large one, that begins in `s` and has byte `offset` of it.
MALLARD_INLINE place place_in(segment* s, std::size_t offset) noexcept {
  const std::size_t n = the_segments.number_of(s);
  if (n >= rows.load(std::memory_order_acquire)) [[unlikely]]
    return {};
  std::size_t index = 0;
  std::byte* begin = the_segments.start_of(s);
  if (s->use == segment_use::slab) [[likely]] {
    const std::uint32_t size = s->size;
    index = static_cast<std::uint32_t>(offset) / size;
    if (index >= s->capacity || size < least_block) return {};
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

// --- canaries -----------------------------------------------------------------------------------

MALLARD_INLINE std::uint64_t word_of(const std::byte* p) noexcept {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}
constexpr std::uint64_t canary_word = 0x0101010101010101u * static_cast<std::uint64_t>(pattern::canary);

MALLARD_INLINE void fill_canary(std::byte* p) noexcept {
  __builtin_memcpy(p, &canary_word, sizeof canary_word);
  __builtin_memcpy(p + sizeof canary_word, &canary_word, sizeof canary_word);
}
MALLARD_INLINE bool is_canary(const std::byte* p) noexcept {
  return ((word_of(p) ^ canary_word) | (word_of(p + sizeof canary_word) ^ canary_word)) == 0;
}

std::size_t bytes_between(const std::byte* from, const std::byte* to) noexcept {
  return static_cast<std::size_t>(to - from);
}

MALLARD_INLINE void fill_sides(const place& b) noexcept {
  std::byte* const data = b.data();
  std::byte* const front = b.front();
  std::byte* behind = data + b.record->size;
  std::byte* const end = b.back_end();
  if (bytes_between(front, data) == canary) [[likely]]
    fill_canary(front);
  else
    fill(front, bytes_between(front, data), pattern::canary);
  if (bytes_between(behind, end) >= canary) [[likely]] {
    fill_canary(behind);
    behind += canary;
  }
  if (behind != end) fill(behind, bytes_between(behind, end), pattern::canary);
}

MALLARD_INLINE bool are_sides_whole(const place& b) noexcept {
  const std::byte* const data = b.data();
  const std::byte* const front = b.front();
  const std::byte* behind = data + b.record->size;
  const std::byte* const end = b.back_end();
  if (bytes_between(front, data) == canary) [[likely]] {
    if (!is_canary(front)) return false;
  } else if (first_other(front, bytes_between(front, data), pattern::canary) != nullptr) {
    return false;
  }
  if (bytes_between(behind, end) >= canary) [[likely]] {
    if (!is_canary(behind)) return false;
    behind += canary;
  }
  return first_other(behind, bytes_between(behind, end), pattern::canary) == nullptr;
}

// How many bytes from the first to the last one that has changed.
std::size_t changed_bytes(const std::byte* first, const std::byte* end, pattern with) noexcept {
  while (end != first && end[-1] == static_cast<std::byte>(with)) --end;
  return bytes_between(first, end);
}

// Reports what has changed beside a block, and repairs it.
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
  fill_sides(b);
}

MALLARD_INLINE void check_sides(const place& b, const char* function, const walk_start& caller) noexcept {
  if (!are_sides_whole(b)) [[unlikely]]
    report_sides(b, function, stack_of(caller));
}

// --- pages without access -------------------------------------------------------------------------

struct sigaction former_segv;
struct sigaction former_bus;
constinit std::atomic<bool> watches_faults = false;

walk_start interrupted_at(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine.gregs[REG_RIP]) + 1,
          static_cast<std::uintptr_t>(machine.gregs[REG_RSP]),
          static_cast<std::uintptr_t>(machine.gregs[REG_RBP])};
#elif defined(__aarch64__)
  return {machine.pc + 1, machine.sp, machine.regs[29]};
#endif
}

void report_fault(const void* address, const walk_start& at) noexcept {
  const place b = place_around(address);
  if (!b || !b.is_known()) return;
  const block_facts facts = facts_of(b);
  if (!b.record->is_sampled && !b.record->is_protected) return;
  const misuse what = facts.freed != 0       ? misuse::accessed_after_free
                      : address < facts.data ? misuse::accessed_before
                                             : misuse::accessed_behind;
  report({.what = what, .pointer = address, .block = &facts, .now = stack_of(at)});
}

// Reports, then does what would have happened without this. A fault happens again when this returns.
void on_fault(int signal, siginfo_t* info, void* context) {
  const bool is_sent = info->si_code <= 0;
  if (!is_sent) report_fault(info->si_addr, interrupted_at(context));
  const struct sigaction former = signal == SIGSEGV ? former_segv : former_bus;
  if ((former.sa_flags & SA_SIGINFO) != 0) return former.sa_sigaction(signal, info, context);
  if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) return former.sa_handler(signal);
  if (!is_sent) (void)summarise();  // nothing else will
  ::sigaction(signal, &former, nullptr);
  if (is_sent) ::raise(signal);
}

// Once there are pages without access; a handler of the program's that comes later takes its place.
void watch_faults() noexcept {
  if (watches_faults.exchange(true, std::memory_order_relaxed)) return;
  struct sigaction action;
  ::memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, &former_segv);
  ::sigaction(SIGBUS, &action, &former_bus);
}

bool allow(std::byte* from, std::size_t bytes, bool access) noexcept {
  const int saved_errno = errno;
  const bool is_done =
      bytes == 0 || ::mprotect(from, bytes, access ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
  errno = saved_errno;
  return is_done;
}

// --- the quarantine -------------------------------------------------------------------------------

// Freed blocks in the order of freeing, in a ring that they stand in by number.
constexpr std::size_t most_freed = std::size_t{1} << 18;
constinit futex_mutex quarantine_mutex;
constinit block_record* freed_blocks[most_freed]{};
constinit std::size_t oldest = 0;
constinit std::size_t freed_end = 0;
constinit std::size_t waiting = 0;  // bytes
constinit std::size_t most_waiting = std::size_t{16} << 20;

block_record*& freed_at(std::size_t n) noexcept { return freed_blocks[n % most_freed]; }

place place_of_record(block_record* r) noexcept {
  const auto at = static_cast<std::size_t>(reinterpret_cast<std::byte*>(r) - records.begin());
  segment* const s = the_segments.at(at / row_bytes);
  const std::size_t index = at % row_bytes / sizeof(block_record);
  std::byte* const begin = the_segments.start_of(s) + (s->use == segment_use::slab ? index * s->size : 0);
  return {s, begin, r};
}

std::size_t weight_of(const place& b) noexcept {
  return b.record->is_protected ? b.bytes() / protected_share : b.bytes();
}

MALLARD_NOINLINE void report_written(const place& b, const char* function, stack_number now) noexcept {
  const block_facts facts = facts_of(b);
  const std::byte* const end = facts.data + facts.size;
  if (const std::byte* const first = first_other(facts.data, facts.size, pattern::freed); first != nullptr) {
    report({.what = misuse::written_after_free,
            .pointer = first,
            .block = &facts,
            .now = now,
            .function = function,
            .count = changed_bytes(first, end, pattern::freed)});
    fill(b.data(), facts.size, pattern::freed);
  }
  if (!are_sides_whole(b)) report_sides(b, function, now);
}

bool is_as_freed(const place& b) noexcept {
  return b.record->is_protected ||
         (are_sides_whole(b) && first_other(b.data(), b.record->size, pattern::freed) == nullptr);
}

void give_to_heap(const place& b) noexcept {
  if (b.record->is_protected) {
    const std::size_t bytes = b.record->is_sampled ? shared_segments::segment_bytes : b.bytes();
    if (!allow(b.begin, bytes, true)) return;  // the system has no mapping left: it stays as it is
    b.record->is_protected = false;
  } else if (b.record->is_sampled) {
    if (!allow(b.begin, shared_segments::segment_bytes, true)) return;
  }
  b.record->is.store(state::gone, std::memory_order_release);
  const borrowed_heap h;
  if (h) h->deallocate(b.begin);
}

// Blocks that leave the quarantine at once.
struct late_blocks {
  block_record* records[16];
  std::size_t count = 0;
};

// Those that follow come into the cache meanwhile: they were not touched for long.
MALLARD_INLINE void prefetch_oldest() noexcept {
  if (freed_end - oldest < 16) return;
  __builtin_prefetch(freed_at(oldest + 8));
  const place next = place_of_record(freed_at(oldest + 4));
  __builtin_prefetch(next.begin);
  __builtin_prefetch(next.begin + 64);
}

// Takes what is too much, the oldest first.
MALLARD_INLINE void take_late(late_blocks& out) noexcept {
  out.count = 0;
  while (oldest != freed_end && out.count != std::size(out.records) &&
         (waiting > most_waiting || freed_end - oldest >= most_freed)) {
    block_record* const r = freed_at(oldest++);
    waiting -= weight_of(place_of_record(r));
    out.records[out.count++] = r;
    prefetch_oldest();
  }
}

void add_to_quarantine(const place& b, late_blocks& late) noexcept {
  const std::lock_guard guard(quarantine_mutex);
  freed_at(freed_end++) = b.record;
  waiting += weight_of(b);
  take_late(late);
}
void take_more(late_blocks& late) noexcept {
  const std::lock_guard guard(quarantine_mutex);
  take_late(late);
}

// Fills a freed block, or takes its pages away, so that whoever uses it is found out.
void make_unusable(const place& b) noexcept {
  block_record& r = *b.record;
  if (r.is_sampled || b.bytes() >= least_protected) {
    const std::size_t bytes = r.is_sampled ? shared_segments::segment_bytes : b.bytes();
    watch_faults();
    if (allow(b.begin, bytes, false)) {
      r.is_protected = true;
      ::madvise(b.begin, bytes, MADV_DONTNEED);
      return;
    }
  }
  fill(b.data(), r.size, pattern::freed);
}

// --- allocation ---------------------------------------------------------------------------------

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

// A segment whose last page, and those in front of the block, must not be accessed. False if the system has
// no mapping left for that.
bool protect_sides(const place& b) noexcept {
  std::byte* const first = b.page_of(b.data());
  std::byte* const last = b.begin + shared_segments::segment_bytes - page;
  watch_faults();
  if (!allow(b.begin, bytes_between(b.begin, first), false)) return false;
  if (allow(last, page, false)) return true;
  (void)allow(b.begin, bytes_between(b.begin, first), true);
  return false;
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
  fill_sides(b);
  r.is.store(state::live, std::memory_order_release);
  return {b.data(), is_zero};
}

// --- what is given back -------------------------------------------------------------------------

// The C library's heap: a library may have called its malloc by another name.
constinit std::byte* first_break = nullptr;
bool is_of_c_library(const void* p) noexcept {
  return first_break != nullptr && p >= first_break && p < static_cast<std::byte*>(::sbrk(0));
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

// The call that ends a block, of two at the same time, is the first.
MALLARD_INLINE void end(const place& b, const char* function, const walk_start& caller) noexcept {
  block_record& r = *b.record;
  const stack_number now = stack_of(caller);
  check_sides(b, function, caller);
  state expected = state::live;
  if (!r.is.compare_exchange_strong(expected, state::freed, std::memory_order_acq_rel))
    return report_double(b, function, caller);
  r.freed = now;
  make_unusable(b);
  late_blocks late;
  for (add_to_quarantine(b, late); late.count != 0; take_more(late)) {
    for (block_record* const each : std::span(late.records, late.count)) {
      const place old = place_of_record(each);
      if (!is_as_freed(old)) [[unlikely]]
        report_written(old, function, now);
      give_to_heap(old);
    }
    if (late.count != std::size(late.records)) return;
  }
}

}  // namespace

void* allocate(std::size_t size, std::size_t align, const way& by, const walk_start& caller) noexcept {
  std::byte* const data = make(size, align, by, caller).data;
  return data != nullptr ? data : failed();
}

void* allocate_zeroed(std::size_t size, const way& by, const walk_start& caller) noexcept {
  const made_block made = make(size, default_align, by, caller);
  if (made.data == nullptr) return failed();
  return made.is_zero ? made.data : ::memset(made.data, 0, size);
}

void deallocate(void* p, std::size_t size, std::size_t align, const way& by,
                const walk_start& caller) noexcept {
  if (p == nullptr) return;
  if (the_segments.find(p) == nullptr && is_of_c_library(p)) [[unlikely]] {
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

namespace {

// Calls f(place) for each block that a record is known of.
template <class F>
void for_each_known(F f) noexcept {
  for (std::size_t n = 1;;) {
    segment* const s = the_segments.find(the_segments.start_of(the_segments.at(n)));
    if (s == nullptr || n >= rows.load(std::memory_order_acquire)) return;
    if (s->use == segment_use::slab)
      for (std::size_t i = 0; i != s->capacity; ++i) {
        const place b = place_in(s, i * s->size);
        if (b && b.is_known()) f(b);
      }
    if (s->use == segment_use::large)
      if (const place b = place_in(s, 0); b && b.is_known()) f(b);
    n += std::max(s->length, 1u);
  }
}

}  // namespace

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
  const place b = place_of_record(std::exchange(last_reached, last_reached->next));
  return {b.data(), b.record->size, b.record->allocated};
}

void for_each_unreached(void (*f)(const live_block&, void*), void* with) noexcept {
  for_each_known([&](const place& b) {
    if (b.record->is == state::live && !b.record->is_reached)
      f({b.data(), b.record->size, b.record->allocated}, with);
  });
}

// A block that another thread ends meanwhile changes its state before its bytes.
void check_all() noexcept {
  for_each_known([](const place& b) {
    const state before = b.record->is.load(std::memory_order_acquire);
    const bool is_whole = before == state::live    ? are_sides_whole(b)
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

// Behind all destructors: what they free is no leak, and they are the last that can misuse a block.
void at_exit(void*) noexcept {
  check_all();
  if (reports_leaks) report_leaks();
  if (const int code = summarise(); code != 0) {
    (void)::fflush(nullptr);
    ::_exit(code);
  }
}

[[gnu::constructor(103)]] void prepare() noexcept {
  first_break = static_cast<std::byte*>(::sbrk(0));
  hold_over_forks(records_mutex);
  hold_over_forks(quarantine_mutex);
  prepare_reports();
  one_in = option("MALLARD_MALLOC_GUARD", 0);
  most_waiting = option("MALLARD_MALLOC_QUARANTINE", most_waiting);
  keep_frames(option("MALLARD_MALLOC_FRAMES", 16));
  reports_leaks = option("MALLARD_MALLOC_LEAKS", 0) != 0;
  // Of no library: so it comes behind the destructors of them all.
  (void)__cxa_atexit(at_exit, nullptr, nullptr);
}

}  // namespace

}  // namespace mallard::malloc_library
