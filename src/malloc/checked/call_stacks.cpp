#include "malloc/checked/call_stacks.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "mallard/source/address_range.hpp"
#include "unwind/rule_cache.hpp"
#include "unwind/stack_bounds.hpp"

namespace mallard::malloc_library {

constinit futex_mutex stacks_mutex;

namespace {

using unwind::frame_kind;
using unwind::frame_registers;
using unwind::frame_rule;
using unwind::stack_range;

// One stack, in the list of those with its hash. Its frames stand behind it.
struct kept_stack {
  std::uint32_t next = 0;
  std::uint32_t count = 0;
  std::uint64_t hash = 0;

  [[nodiscard]] std::uintptr_t* frames() noexcept { return reinterpret_cast<std::uintptr_t*>(this + 1); }
};

constexpr std::size_t word = sizeof(std::uintptr_t);
constexpr std::size_t most_bytes = std::size_t{1} << 34;  // of addresses: numbers of words have 32 bits
constexpr std::size_t least_bytes = std::size_t{1} << 24;
constexpr std::size_t step = std::size_t{1} << 20;
constexpr unsigned bucket_bits = 18;

constinit address_range kept;
constinit std::size_t kept_bytes = 0;  // that are memory
constinit std::size_t kept_words = 0;  // that are used; word 0 is no stack
constinit std::atomic<std::uint32_t> buckets[std::size_t{1} << bucket_bits]{};
constinit std::size_t depth = 16;

__thread stack_range stack_of_thread;

// Rules of functions close together, which rule_cache has apart: an allocation meets few.
struct near_rule {
  std::uintptr_t return_address = 0;
  frame_rule rule;
};
constexpr unsigned near_bits = 8;
__thread near_rule near_rules[std::size_t{1} << near_bits];
__thread std::uint32_t generation_of_thread = 0;
constinit std::atomic<std::uint32_t> generation = 0;  // of what is known of functions

MALLARD_INLINE frame_rule rule_of(std::uintptr_t return_address) noexcept {
  near_rule& known = near_rules[return_address * 0x9e3779b97f4a7c15u >> (64 - near_bits)];
  if (known.return_address == return_address) [[likely]]
    return known.rule;
  const frame_rule rule = unwind::known_rules.rule_of(return_address);
  if (rule.kind() != frame_kind::unknown) known = {return_address, rule};  // else a module may come there
  return rule;
}

kept_stack* at(stack_number n) noexcept { return reinterpret_cast<kept_stack*>(kept.begin() + n * word); }

// The stack around `sp`, by calls that are no cancellation points.
MALLARD_NOINLINE stack_range find_stack(std::uintptr_t sp) noexcept {
  const int saved_errno = errno;
  const long file = ::syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const stack_range found = unwind::stack_at(sp, [file](char* out, std::size_t most) noexcept {
    return file < 0 ? 0 : ::syscall(SYS_read, file, out, most);
  });
  if (file >= 0) ::syscall(SYS_close, file);
  errno = saved_errno;
  return found;
}

// Makes the registers those of the caller; false where the walk ends.
MALLARD_INLINE bool step_out(frame_registers& at, const stack_range& stack) noexcept {
  const frame_rule rule = at.pc_is_exact ? unwind::find_frame_rule(at.pc) : rule_of(at.pc);
  std::uintptr_t cfa = static_cast<std::uintptr_t>(rule.cfa_offset());
  switch (rule.kind()) {
    case frame_kind::sp:
      cfa += at.sp;
      break;
    case frame_kind::bp:
      if (at.bp_is_lost) return false;
      cfa += at.bp;
      break;
    case frame_kind::expression: {
      unwind::frame_step general;
      if (!unwind::step_by_expression(at, stack, general) || general.caller.sp <= at.sp) return false;
      at = general.caller;
      return at.pc != 0;
    }
    default:
      return false;
  }
  if (cfa <= at.sp || cfa > stack.end || cfa % word != 0) return false;
  if (rule.caller_bp() == unwind::bp_from::cfa) {
    const std::uintptr_t saved = cfa + static_cast<std::uintptr_t>(rule.bp_offset());
    if (saved < stack.begin || saved > stack.end - word) return false;
    at.bp = unwind::word_at(saved);
    at.bp_is_lost = false;
  } else if (rule.caller_bp() == unwind::bp_from::undefined) {
    at.bp_is_lost = true;
  }
  at.pc = unwind::word_at(cfa - word);
  at.pc_is_exact = false;
  at.sp = cfa;
  return at.pc != 0;
}

struct walked {
  std::size_t count = 0;
  std::uint64_t hash = 0;
  std::uintptr_t frames[most_frames];
};

MALLARD_INLINE void walk(const walk_start& start, const stack_range& stack, walked& out) noexcept {
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
  frame_registers at{start.return_address, start.sp, start.bp, false};
  do {
    const std::uintptr_t call = at.pc - static_cast<std::uintptr_t>(!at.pc_is_exact);
    out.frames[out.count++] = call;
    out.hash = (out.hash ^ call) * spread;
  } while (out.count != depth && step_out(at, stack));
  out.hash ^= out.hash >> 32;
}

// Stacks are told apart by 64 bits of hash: of a million of them, two are taken for one in one of 10^7
// processes.
MALLARD_INLINE stack_number find(std::uint32_t first, const walked& wanted) noexcept {
  for (stack_number n = first; n != 0; n = at(n)->next) {
    const kept_stack& known = *at(n);
    if (known.hash == wanted.hash && known.count == wanted.count) return n;
  }
  return 0;
}

bool make_room(std::size_t words) noexcept {
  if (kept_bytes == 0) {
    if (!kept.open(most_bytes, least_bytes, step)) return false;
    kept_words = 1;
  }
  const std::size_t needed = align_up((kept_words + words) * word, step);
  if (needed <= kept_bytes) return true;
  if (needed > kept.size() || !kept.extend(kept.begin() + kept_bytes, needed - kept_bytes)) return false;
  kept_bytes = needed;
  return true;
}

MALLARD_NOINLINE stack_number keep(std::atomic<std::uint32_t>& bucket, const walked& made) noexcept {
  const std::lock_guard guard(stacks_mutex);
  const std::uint32_t first = bucket.load(std::memory_order_relaxed);
  if (const stack_number n = find(first, made); n != 0) return n;
  const int saved_errno = errno;
  const std::size_t words = sizeof(kept_stack) / word + made.count;
  const bool has_room = make_room(words);
  errno = saved_errno;
  if (!has_room) return 0;
  const auto n = static_cast<stack_number>(kept_words);
  kept_words += words;
  kept_stack& one = *at(n);
  one.next = first;
  one.count = static_cast<std::uint32_t>(made.count);
  one.hash = made.hash;
  ::memcpy(one.frames(), made.frames, made.count * word);
  bucket.store(n, std::memory_order_release);
  return n;
}

}  // namespace

stack_number stack_of(const walk_start& start) noexcept {
  if (start.sp < stack_of_thread.begin || start.sp >= stack_of_thread.end) [[unlikely]]
    stack_of_thread = find_stack(start.sp);
  if (const std::uint32_t now = generation.load(std::memory_order_relaxed); generation_of_thread != now)
      [[unlikely]] {
    for (near_rule& known : near_rules) known.return_address = 0;
    generation_of_thread = now;
  }
  walked made;
  walk(start, stack_of_thread, made);
  std::atomic<std::uint32_t>& bucket = buckets[made.hash & ((std::size_t{1} << bucket_bits) - 1)];
  const stack_number n = find(bucket.load(std::memory_order_acquire), made);
  return n != 0 ? n : keep(bucket, made);
}

std::span<const std::uintptr_t> frames_of(stack_number stack) noexcept {
  if (stack == 0) return {};
  return {at(stack)->frames(), at(stack)->count};
}

void keep_frames(std::size_t count) noexcept { depth = std::clamp(count, std::size_t{1}, most_frames); }

void forget_functions() noexcept {
  unwind::known_rules.forget_rules(0, ~std::uintptr_t{0});
  generation.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mallard::malloc_library
