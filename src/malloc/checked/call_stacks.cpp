#include "malloc/checked/call_stacks.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "mallard/core/align.hpp"
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

using stack_word [[gnu::may_alias]] = std::uintptr_t;
constexpr std::size_t word = sizeof(stack_word);
constexpr std::size_t most_bytes = std::size_t{1} << 34;  // of addresses: numbers of words have 32 bits
constexpr std::size_t least_bytes = std::size_t{1} << 24;
constexpr std::size_t step = std::size_t{1} << 20;
constexpr unsigned bucket_bits = 18;
constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;  // makes a hash of an address

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
  near_rule& known = near_rules[return_address * spread >> (64 - near_bits)];
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
  return found.end != 0 ? found : unwind::page_of_stack(sp);
}

// A walk is found again by where it starts, which few stacks have in common. Keys are hashes: what is found
// need not be the stack, and is compared with it.
MALLARD_INLINE std::uint64_t key_of(const walk_start& start) noexcept {
  return (start.return_address ^ start.sp * 0xff51afd7ed558ccd) * spread;
}

// Or else by its innermost frames too. That takes for granted that a frame with a frame pointer has saved its
// caller's in front of its end.
constexpr std::size_t frames_of_key = 4;
MALLARD_INLINE std::uint64_t key_of(const walk_start& start, const stack_range& stack) noexcept {
  std::uint64_t key = key_of(start);
  std::uintptr_t pc = start.return_address;
  std::uintptr_t sp = start.sp;
  std::uintptr_t bp = start.bp;
  for (std::size_t i = 1; i != frames_of_key; ++i) {
    const frame_rule rule = rule_of(pc);
    std::uintptr_t cfa = sp;
    if (rule.kind() != frame_kind::sp) {
      if (rule.kind() != frame_kind::bp) return key;
      cfa = bp;
    }
    cfa += static_cast<std::uintptr_t>(rule.cfa_offset());
    if (cfa <= sp || cfa > stack.end) return key;
    if (rule.kind() == frame_kind::bp) bp = unwind::word_at(cfa - 2 * word);
    pc = unwind::word_at(cfa - word);
    sp = cfa;
    key = (key ^ pc) * spread;
  }
  return key;
}

// A walk from a call outwards, frame by frame, with the words of the stack that it depends on.
class walk {
 public:
  static constexpr std::size_t most_words = 32;  // of 16 frames with frame pointers

  walk(const walk_start& start, const stack_range& stack) noexcept
      : start_(start), stack_(stack), at_{start.return_address, start.sp, start.bp, false} {
    add();
  }

  // Goes on until there are `frames` of them, or no more.
  void go_on(std::size_t frames) noexcept {
    while (count_ < frames && step_out()) add();
  }

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_ ^ hash_ >> 32; }
  [[nodiscard]] std::span<const std::uintptr_t> frames() const noexcept { return {frames_, count_}; }
  [[nodiscard]] const walk_start& start() const noexcept { return start_; }
  [[nodiscard]] bool start_bp_matters() const noexcept { return start_bp_matters_; }
  // False if they were too many, or too far away.
  [[nodiscard]] bool has_all_words() const noexcept { return has_all_words_; }
  [[nodiscard]] std::size_t words() const noexcept { return words_; }
  [[nodiscard]] std::uint16_t offset(std::size_t i) const noexcept { return offsets_[i]; }  // from start.sp
  [[nodiscard]] std::uintptr_t value(std::size_t i) const noexcept { return values_[i]; }

 private:
  void add() noexcept {
    const std::uintptr_t call = at_.pc - static_cast<std::uintptr_t>(!at_.pc_is_exact);
    frames_[count_++] = call;
    hash_ = (hash_ ^ call) * spread;
  }

  void note(std::uintptr_t address, std::uintptr_t value) noexcept {
    const std::size_t offset = (address - start_.sp) / word;
    if (words_ == most_words || offset > 0xffff) [[unlikely]] {
      has_all_words_ = false;
      return;
    }
    offsets_[words_] = static_cast<std::uint16_t>(offset);
    values_[words_++] = value;
  }

  // What is found by the frame pointer depends on where that came from.
  void note_bp() noexcept {
    if (bp_slot_ != 0)
      note(bp_slot_, at_.bp);
    else
      start_bp_matters_ |= !bp_is_noted_;
    bp_slot_ = 0;
    bp_is_noted_ = true;
  }

  MALLARD_INLINE bool step_out() noexcept {
    const frame_rule rule = at_.pc_is_exact ? unwind::find_frame_rule(at_.pc) : rule_of(at_.pc);
    auto cfa = static_cast<std::uintptr_t>(rule.cfa_offset());
    if (rule.kind() == frame_kind::sp) [[likely]] {
      cfa += at_.sp;
    } else if (rule.kind() == frame_kind::bp) {
      if (at_.bp_is_lost) return false;
      note_bp();
      cfa += at_.bp;
    } else {
      return rule.kind() == frame_kind::expression && step_generally();
    }
    if (cfa <= at_.sp || cfa > stack_.end || cfa % word != 0) return false;
    if (rule.caller_bp() == unwind::bp_from::cfa) {
      const std::uintptr_t saved = cfa + static_cast<std::uintptr_t>(rule.bp_offset());
      if (saved < start_.sp || saved > stack_.end - word) return false;
      at_.bp = unwind::word_at(saved);
      at_.bp_is_lost = false;
      bp_slot_ = saved;
      bp_is_noted_ = false;
    } else if (rule.caller_bp() == unwind::bp_from::undefined) {
      at_.bp_is_lost = true;
    }
    at_.pc = unwind::word_at(cfa - word);
    at_.pc_is_exact = false;
    at_.sp = cfa;
    note(cfa - word, at_.pc);
    return at_.pc != 0;
  }

  MALLARD_NOINLINE bool step_generally() noexcept {
    unwind::frame_step general;
    note_bp();
    if (!unwind::step_by_expression(at_, stack_, general) || general.caller.sp <= at_.sp) return false;
    for (unsigned i = 0; i != general.read_count; ++i) {
      if (general.reads[i].address < start_.sp) has_all_words_ = false;
      note(general.reads[i].address, general.reads[i].value);
    }
    at_ = general.caller;
    return at_.pc != 0;
  }

  const walk_start start_;
  const stack_range stack_;
  frame_registers at_;
  std::uintptr_t bp_slot_ = 0;  // where the frame pointer was read; 0: it is noted, or the start's
  bool bp_is_noted_ = false;
  bool start_bp_matters_ = false;
  bool has_all_words_ = true;
  std::size_t count_ = 0;
  std::size_t words_ = 0;
  std::uint64_t hash_ = 0;
  std::uint16_t offsets_[most_words];
  std::uintptr_t values_[most_words];
  std::uintptr_t frames_[most_frames];
};

// A stack that was walked before. Who writes it makes its version odd meanwhile.
struct alignas(cache_line) known_walk {
  static constexpr std::size_t at_once = 4;  // words that are compared
  static constexpr std::size_t most_groups = walk::most_words / at_once;

  std::atomic<std::uint32_t> version;
  stack_number stack;
  std::uint32_t generation;
  std::uint8_t groups;  // of words; the first one again where the last group is not full
  bool bp_matters;
  std::uint16_t farthest;  // of the offsets
  walk_start start;
  std::uint16_t offsets[walk::most_words];
  std::uintptr_t values[walk::most_words];
};

constexpr unsigned walk_bits = 13;
constinit known_walk known_walks[std::size_t{1} << walk_bits]{};

template <class T>
MALLARD_INLINE T relaxed(const T& value) noexcept {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

// The stack, if the words of the known one still have their values; 0 if not. Offsets are used once
// it is sure that nobody has written them meanwhile.
MALLARD_INLINE stack_number recall(const known_walk& known, const walk_start& start, const stack_range& stack,
                                   std::uint32_t now) noexcept {
  const std::uint32_t version = known.version.load(std::memory_order_acquire);
  if (version % 2 != 0 || relaxed(known.start.sp) != start.sp ||
      relaxed(known.start.return_address) != start.return_address || relaxed(known.generation) != now)
    return 0;
  if (relaxed(known.bp_matters) && relaxed(known.start.bp) != start.bp) return 0;
  if (relaxed(known.farthest) >= (stack.end - start.sp) / word) return 0;
  const auto* const at = reinterpret_cast<const stack_word*>(start.sp);
  const std::uint16_t* offsets = known.offsets;
  const std::uintptr_t* values = known.values;
  const std::size_t groups = std::min<std::size_t>(relaxed(known.groups), known_walk::most_groups);
  for (std::size_t i = 0; i != groups; ++i) {
    const std::size_t at_0 = relaxed(offsets[0]);
    const std::size_t at_1 = relaxed(offsets[1]);
    const std::size_t at_2 = relaxed(offsets[2]);
    const std::size_t at_3 = relaxed(offsets[3]);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (known.version.load(std::memory_order_relaxed) != version) return 0;
    const std::uintptr_t changes = (relaxed(values[0]) ^ at[at_0]) | (relaxed(values[1]) ^ at[at_1]) |
                                   (relaxed(values[2]) ^ at[at_2]) | (relaxed(values[3]) ^ at[at_3]);
    if (changes != 0) return 0;
    offsets += known_walk::at_once;
    values += known_walk::at_once;
  }
  const stack_number found = relaxed(known.stack);
  std::atomic_thread_fence(std::memory_order_acquire);
  return known.version.load(std::memory_order_relaxed) == version ? found : 0;
}

void remember(known_walk& known, const walk& made, stack_number stack, std::uint32_t now) noexcept {
  std::uint32_t version = known.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 || !known.version.compare_exchange_strong(version, version + 1)) return;
  const auto store = [](auto& to, auto value) { __atomic_store_n(&to, value, __ATOMIC_RELAXED); };
  std::atomic_thread_fence(std::memory_order_release);
  const std::size_t groups = (made.words() + known_walk::at_once - 1) / known_walk::at_once;
  std::uint16_t farthest = 0;
  for (std::size_t i = 0; i != groups * known_walk::at_once; ++i) {
    const std::size_t from = i < made.words() ? i : 0;
    farthest = std::max(farthest, made.offset(from));
    store(known.offsets[i], made.offset(from));
    store(known.values[i], made.value(from));
  }
  store(known.stack, stack);
  store(known.generation, now);
  store(known.groups, static_cast<std::uint8_t>(groups));
  store(known.farthest, farthest);
  store(known.bp_matters, made.start_bp_matters());
  store(known.start.return_address, made.start().return_address);
  store(known.start.sp, made.start().sp);
  store(known.start.bp, made.start().bp);
  known.version.store(version + 2, std::memory_order_release);
}

// A hash of 64 bits tells stacks apart: with a million of them, two are taken for one in one of 10^7
// processes.
MALLARD_INLINE stack_number find(std::uint32_t first, const walk& wanted) noexcept {
  for (stack_number n = first; n != 0; n = at(n)->next) {
    const kept_stack& known = *at(n);
    if (known.hash == wanted.hash() && known.count == wanted.frames().size()) return n;
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

MALLARD_NOINLINE stack_number keep(std::atomic<std::uint32_t>& bucket, const walk& made) noexcept {
  const std::lock_guard guard(stacks_mutex);
  const std::uint32_t first = bucket.load(std::memory_order_relaxed);
  if (const stack_number n = find(first, made); n != 0) return n;
  const int saved_errno = errno;
  const std::size_t words = sizeof(kept_stack) / word + made.frames().size();
  const bool has_room = make_room(words);
  errno = saved_errno;
  if (!has_room) return 0;
  const auto n = static_cast<stack_number>(kept_words);
  kept_words += words;
  kept_stack& one = *at(n);
  one.next = first;
  one.count = static_cast<std::uint32_t>(made.frames().size());
  one.hash = made.hash();
  ::memcpy(one.frames(), made.frames().data(), made.frames().size_bytes());
  bucket.store(n, std::memory_order_release);
  return n;
}

known_walk& known_by(std::uint64_t key) noexcept { return known_walks[key >> (64 - walk_bits)]; }

// What is walked anew is the next to be looked for by the start alone.
MALLARD_NOINLINE stack_number find_by_frames(const walk_start& start, std::uint32_t now,
                                             known_walk& by_start) noexcept {
  known_walk& known = known_by(key_of(start, stack_of_thread));
  if (const stack_number n = recall(known, start, stack_of_thread, now); n != 0) return n;
  walk made(start, stack_of_thread);
  made.go_on(depth);
  std::atomic<std::uint32_t>& bucket = buckets[made.hash() & ((std::size_t{1} << bucket_bits) - 1)];
  stack_number n = find(bucket.load(std::memory_order_acquire), made);
  if (n == 0) n = keep(bucket, made);
  if (n != 0 && made.has_all_words()) {
    remember(known, made, n, now);
    remember(by_start, made, n, now);
  }
  return n;
}

}  // namespace

stack_number stack_of(const walk_start& start) noexcept {
  if (start.sp < stack_of_thread.begin || start.sp >= stack_of_thread.end) [[unlikely]]
    stack_of_thread = find_stack(start.sp);
  const std::uint32_t now = generation.load(std::memory_order_relaxed);
  if (generation_of_thread != now) [[unlikely]] {
    for (near_rule& known : near_rules) known.return_address = 0;
    generation_of_thread = now;
  }
  known_walk& known = known_by(key_of(start));
  if (const stack_number n = recall(known, start, stack_of_thread, now); n != 0) return n;
  return find_by_frames(start, now, known);
}

std::span<const std::uintptr_t> frames_of(stack_number stack) noexcept {
  if (stack == 0) return {};
  return {at(stack)->frames(), at(stack)->count};
}

void keep_frames(std::size_t count) noexcept { depth = std::clamp(count, std::size_t{1}, most_frames); }

// No stack begins at 0, so none of them is found from now on.
void forget_walks() noexcept {
  for (known_walk& known : known_walks) {
    if (known.version.load(std::memory_order_relaxed) == 0) continue;  // never used
    __atomic_store_n(&known.start.sp, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&known.start.bp, 0, __ATOMIC_RELAXED);
    for (std::uintptr_t& value : known.values) __atomic_store_n(&value, 0, __ATOMIC_RELAXED);
  }
}

void forget_functions() noexcept {
  unwind::known_rules.forget_rules(0, ~std::uintptr_t{0});
  generation.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mallard::malloc_library
