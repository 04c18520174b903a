#include "malloc/checked/quarantine.hpp"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <mutex>
#include <span>

namespace mallard::malloc_library {

constinit futex_mutex quarantine_mutex;

namespace {

constexpr std::size_t least_protected = 256 << 10;  // bytes of a block that waits without access
constexpr std::size_t protected_share = 64;         // of whose bytes one counts for the quarantine

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

// Freed blocks in the order of freeing, in a ring that they stand in by number.
constexpr std::size_t most_freed = std::size_t{1} << 18;
constinit block_record* freed_blocks[most_freed]{};
constinit std::size_t oldest = 0;
constinit std::size_t freed_end = 0;
constinit std::size_t waiting = 0;            // bytes, as they count
constinit std::size_t waiting_addresses = 0;  // bytes
constinit std::size_t most_waiting = default_quarantine;
constinit std::atomic<bool> is_stopped = false;

block_record*& freed_at(std::size_t n) noexcept { return freed_blocks[n % most_freed]; }

std::size_t weight_of(const place& b) noexcept {
  return b.record->is_protected ? b.bytes() / protected_share : b.bytes();
}

void give_to_heap(const place& b) noexcept {
  if (b.record->is_protected) {
    const std::size_t bytes = b.record->is_sampled ? shared_segments::segment_bytes : b.bytes();
    if (!allow(b.begin, bytes, true)) return;  // the system has no mapping left: it stays as it is
    b.record->is_protected = false;
  } else if (b.record->is_sampled) {
    if (!allow(b.begin, shared_segments::segment_bytes, true)) return;
  }
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
  const place next = place_of(freed_at(oldest + 4));
  __builtin_prefetch(next.begin);
  __builtin_prefetch(next.begin + 64);
}

// Takes what is more than `kept` bytes, the oldest first.
MALLARD_INLINE void take_late(late_blocks& out, std::size_t kept) noexcept {
  out.count = 0;
  if (is_stopped.load(std::memory_order_relaxed)) return;
  while (oldest != freed_end && out.count != std::size(out.records) &&
         (waiting > kept || freed_end - oldest >= most_freed)) {
    block_record* const r = freed_at(oldest++);
    r->is.store(state::gone, std::memory_order_release);  // a walk over all blocks leaves it alone
    const place b = place_of(r);
    waiting -= weight_of(b);
    waiting_addresses -= b.bytes();
    out.records[out.count++] = r;
    prefetch_oldest();
  }
}

void add_to_quarantine(const place& b, late_blocks& late) noexcept {
  const std::lock_guard guard(quarantine_mutex);
  b.record->is.store(state::freed, std::memory_order_release);
  freed_at(freed_end++) = b.record;
  waiting += weight_of(b);
  waiting_addresses += b.bytes();
  take_late(late, most_waiting);
}
void take_more(late_blocks& late, std::size_t kept) noexcept {
  const std::lock_guard guard(quarantine_mutex);
  take_late(late, kept);
}

void let_go(const late_blocks& late, const char* function, stack_number now) noexcept {
  for (block_record* const each : std::span(late.records, late.count)) {
    const place old = place_of(each);
    if (!is_as_freed(old)) [[unlikely]]
      report_written(old, function, now);
    give_to_heap(old);
  }
}

// Fills a freed block, or takes its pages away, so that uses of it are caught.
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

}  // namespace

void report_written(const place& b, const char* function, stack_number now) noexcept {
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
  if (!are_sides_whole(sides_of(b))) report_sides(b, function, now);
}

bool is_as_freed(const place& b) noexcept {
  if (b.record->is_protected) return true;
  const sides at = sides_of(b);
  return are_sides_whole(at) && first_other(at.data, b.record->size, pattern::freed) == nullptr;
}

bool protect_sides(const place& b) noexcept {
  std::byte* const first = b.page_of(b.data());
  std::byte* const last = b.begin + shared_segments::segment_bytes - page;
  watch_faults();
  if (!allow(b.begin, bytes_between(b.begin, first), false)) return false;
  (void)allow(last, page, false);  // without, there is its canary
  return true;
}

void keep_freed(std::size_t bytes) noexcept { most_waiting = bytes; }

void stop_reuse() noexcept {
  const std::lock_guard guard(quarantine_mutex);
  is_stopped.store(true);
}

// A block that a thread frees before it sees stop_reuse() is no longer live for the caller of that.
void put_aside(const place& b, const char* function, stack_number now) noexcept {
  if (is_stopped.load()) {
    if (b.bytes() >= least_protected) ::madvise(b.begin, b.bytes(), MADV_DONTNEED);
    return;
  }
  make_unusable(b);
  late_blocks late;
  for (add_to_quarantine(b, late); late.count != 0; take_more(late, most_waiting)) {
    let_go(late, function, now);
    if (late.count != std::size(late.records)) return;
  }
}

bool let_all_go(std::size_t least, const char* function, stack_number now) noexcept {
  late_blocks late;
  {
    const std::lock_guard guard(quarantine_mutex);
    if (waiting_addresses < least) return false;
    take_late(late, 0);
  }
  if (late.count == 0) return false;
  for (; late.count != 0; take_more(late, 0)) let_go(late, function, now);
  return true;
}

}  // namespace mallard::malloc_library
