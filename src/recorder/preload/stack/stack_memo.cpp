#include "recorder/preload/stack/stack_memo.hpp"

#include <string.h>

#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/unwind/rule_cache.hpp"

namespace mallard::recorder {
namespace {

constexpr std::uint32_t flag_words = deepest_stack / 64;
constexpr std::uint32_t least_capacity = 16;  // frames

bool is_set(const std::uint64_t* flags, std::uint32_t i) noexcept {
  return (flags[i / 64] >> i % 64 & 1) != 0;
}

void set(std::uint64_t* flags, std::uint32_t i, bool value) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << i % 64;
  flags[i / 64] = value ? flags[i / 64] | bit : flags[i / 64] & ~bit;
}

}  // namespace

// The frames that a walk steps through itself; not on the program's stack, which may be small.
struct stack_memo::steps_taken {
  std::uintptr_t bp_slots[deepest_stack];  // where the caller's frame pointer was read; 0: nowhere
  std::uint32_t added[deepest_stack];      // frames whose bp_slots become words of the walk
  bool uses_bp[deepest_stack];
  bool keeps_bp[deepest_stack];
};

// Fills a walk, frame by frame outwards, from the rules of the functions and from the walk before.
class stack_memo::walker {
 public:
  walker(walk& out, const walk* before, const stack_range& stack, steps_taken& steps) noexcept
      : out_(out), before_(before), stack_(stack), limit_(state.depth), steps_(steps) {}

  void run(const walk_start& start) noexcept {
    out_.start = start;
    out_.stack_end = stack_.end;
    out_.other_words = 0;
    out_.complete = true;
    at_ = {start.return_address, start.sp, start.bp, false};
    slot_ = start.sp - sizeof(std::uintptr_t);
    std::uint32_t n = 0;
    for (;; ++n) {
      out_.frames[n] = {static_cast<std::uint32_t>(slot_ - start.sp), 0, at_.pc};
      out_.bps[n] = at_.bp;
      if (before_ != nullptr && meets_before(n)) return;
      if (n + 1 == limit_) {
        out_.complete = false;
        break;
      }
      if (!step(n)) break;
    }
    out_.depth = n + 1;
    set(out_.bp_matters_from, n, false);
    mark_what_matters(n);
  }

  // The first frame from which on the contexts are known already; the depth if none is.
  [[nodiscard]] std::uint32_t known_from() const noexcept { return known_from_; }

 private:
  // Goes from frame n to its caller's.
  bool step(std::uint32_t n) noexcept {
    const frame_rule rule = at_.pc_is_exact ? find_frame_rule(at_.pc) : known_rules.rule_of(at_.pc);
    steps_.bp_slots[n] = 0;
    switch (rule.kind()) {
      case frame_kind::sp:
        return step_to(n, at_.sp + static_cast<std::uintptr_t>(rule.cfa_offset()), rule);
      case frame_kind::bp:
        return !at_.bp_is_lost && step_to(n, at_.bp + static_cast<std::uintptr_t>(rule.cfa_offset()), rule);
      case frame_kind::expression:
        return step_generally(n);
      default:
        return false;
    }
  }

  bool step_to(std::uint32_t n, std::uintptr_t cfa, frame_rule rule) noexcept {
    if (cfa <= at_.sp || cfa > stack_.end || cfa % sizeof(std::uintptr_t) != 0) return false;
    steps_.uses_bp[n] = rule.kind() == frame_kind::bp;
    steps_.keeps_bp[n] = rule.caller_bp() == bp_from::unchanged;
    if (rule.caller_bp() == bp_from::cfa) {
      const std::uintptr_t saved = cfa + static_cast<std::uintptr_t>(rule.bp_offset());
      if (saved < stack_.begin || saved > stack_.end - sizeof(std::uintptr_t)) return false;
      steps_.bp_slots[n] = saved;
      at_.bp = word_at(saved);
      at_.bp_is_lost = false;
    } else if (rule.caller_bp() == bp_from::undefined) {
      at_.bp_is_lost = true;
    }
    slot_ = cfa - sizeof(std::uintptr_t);
    at_.pc = word_at(slot_);
    at_.pc_is_exact = false;
    at_.sp = cfa;
    return ends_not(n);
  }

  bool step_generally(std::uint32_t n) noexcept {
    frame_step general;
    if (!step_by_expression(at_, stack_, general) || general.caller.sp <= at_.sp) return false;
    steps_.uses_bp[n] = true;
    steps_.keeps_bp[n] = false;
    slot_ = 0;
    for (unsigned i = 0; i < general.read_count; ++i) {
      const word_read& read = general.reads[i];
      if (read.address < out_.start.sp || !add_other(n, read.address, read.value)) return false;
      if (read.value == general.caller.pc) slot_ = read.address;
    }
    at_ = general.caller;
    return slot_ != 0 && ends_not(n);
  }

  // A return address of 0 ends the stack; the word is part of what the walk has read.
  bool ends_not(std::uint32_t n) noexcept {
    if (at_.pc != 0) return true;
    add_other(n, slot_, 0);
    return false;
  }

  bool add_other(std::uint32_t n, std::uintptr_t address, std::uintptr_t value) noexcept {
    if (out_.other_words == 2 * limit_) return false;
    out_.others[out_.other_words++] = {static_cast<std::uint32_t>(address - out_.start.sp), n, value};
    return true;
  }

  // True if the previous walk has this frame in the same slot and its outer part is unchanged.
  bool meets_before(std::uint32_t n) noexcept {
    const walk& before = *before_;
    const auto slot_of = [&](std::uint32_t i) {
      return before.start.sp +
             static_cast<std::uintptr_t>(static_cast<std::int32_t>(before.frames[i].distance));
    };
    while (met_ < before.depth && slot_of(met_) < slot_) ++met_;
    if (met_ < unequal_below_ || met_ >= before.depth || slot_of(met_) != slot_ ||
        before.frames[met_].return_address != at_.pc)
      return false;
    const std::uint32_t rest = before.depth - met_;
    if (met_ != n && (!before.complete || n + rest > limit_)) return false;
    if (at_.pc_is_exact ||
        (is_set(before.bp_matters_from, met_) && (at_.bp_is_lost || before.bps[met_] != at_.bp)))
      return false;
    for (std::uint32_t i = met_ + 1; i < before.depth; ++i) {
      if (word_at(slot_of(i)) != before.frames[i].return_address) {
        unequal_below_ = i + 1;
        return false;
      }
    }
    std::uint32_t first_other = 0;
    while (first_other < before.other_words && before.others[first_other].frame < met_) ++first_other;
    for (std::uint32_t i = first_other; i < before.other_words; ++i)
      if (word_at(before.start.sp + before.others[i].distance) != before.others[i].value) return false;
    return take_over(n, first_other);
  }

  bool take_over(std::uint32_t n, std::uint32_t first_other) noexcept {
    const walk& before = *before_;
    const std::uintptr_t shift = before.start.sp - out_.start.sp;
    const std::uint32_t own_others = out_.other_words;
    for (std::uint32_t i = met_; i < before.depth; ++i) {
      const std::uint32_t to = n + i - met_;
      out_.frames[to] = {static_cast<std::uint32_t>(before.frames[i].distance + shift),
                         before.frames[i].context, before.frames[i].return_address};
      out_.bps[to] = before.bps[i];
      set(out_.bp_matters_from, to, is_set(before.bp_matters_from, i));
    }
    for (std::uint32_t i = first_other; i < before.other_words; ++i) {
      const other_word& word = before.others[i];
      if (out_.other_words == 2 * limit_) {
        out_.other_words = own_others;
        return false;
      }
      out_.others[out_.other_words++] = {static_cast<std::uint32_t>(word.distance + shift),
                                         word.frame - met_ + n, word.value};
    }
    out_.depth = n + before.depth - met_;
    out_.complete = before.complete;
    known_from_ = n;
    mark_what_matters(n);
    return true;
  }

  // For the frames below n, from n inwards: whether the frame pointer in it matters, and with that the
  // words from which one was taken.
  void mark_what_matters(std::uint32_t n) noexcept {
    std::uint32_t added = 0;
    for (std::uint32_t i = n; i-- > 0;) {
      const bool outside = is_set(out_.bp_matters_from, i + 1);
      set(out_.bp_matters_from, i, steps_.uses_bp[i] || (steps_.keeps_bp[i] && outside));
      if (steps_.bp_slots[i] != 0 && outside) steps_.added[added++] = i;
    }
    out_.bp_matters = is_set(out_.bp_matters_from, 0);
    insert_bp_words(added);
  }

  // Merges them, listed in added_ outermost first, into the other words, which are in the order of frames.
  void insert_bp_words(std::uint32_t added) noexcept {
    if (added == 0) return;
    std::uint32_t from = out_.other_words;
    std::uint32_t to = from + added;
    if (to > 2 * limit_) {  // more than can be kept: a walk that never holds again
      out_.start.return_address = 0;
      return;
    }
    out_.other_words = to;
    for (std::uint32_t next = 0; next < added;) {
      const std::uint32_t i = steps_.added[next];
      if (from > 0 && out_.others[from - 1].frame > i) {
        out_.others[--to] = out_.others[--from];
      } else {
        out_.others[--to] = {static_cast<std::uint32_t>(steps_.bp_slots[i] - out_.start.sp), i,
                             out_.bps[i + 1]};
        ++next;
      }
    }
  }

  walk& out_;
  const walk* before_;
  const stack_range& stack_;
  std::uint32_t limit_;
  frame_registers at_{};
  std::uintptr_t slot_ = 0;
  std::uint32_t met_ = 0;            // the frame of the walk before that comes next, outwards
  std::uint32_t unequal_below_ = 0;  // no meeting before that one of it
  std::uint32_t known_from_ = UINT32_MAX;
  steps_taken& steps_;
};

std::size_t stack_memo::bytes_for(std::uint32_t capacity) noexcept {
  return sizeof(walk) + flag_words * sizeof(std::uint64_t) +
         capacity * (sizeof(frame) + sizeof(other_word) + sizeof(std::uintptr_t));
}

stack_memo::walk* stack_memo::lay_out(void* room, std::uint32_t capacity) noexcept {
  auto* laid_out = static_cast<walk*>(room);
  laid_out->capacity = capacity;
  laid_out->bp_matters_from = reinterpret_cast<std::uint64_t*>(laid_out + 1);
  laid_out->frames = reinterpret_cast<frame*>(laid_out->bp_matters_from + flag_words);
  laid_out->others = reinterpret_cast<other_word*>(laid_out->frames + capacity);
  laid_out->bps = reinterpret_cast<std::uintptr_t*>(laid_out->others + capacity);
  return laid_out;
}

bool stack_memo::prepare() noexcept {
  const std::uint32_t generation = state.module_generation.load(std::memory_order_relaxed) + 1;
  if (generation_ == generation) return true;
  if (walks_ == nullptr) walks_ = static_cast<walk**>(map_pages(remembered * sizeof *walks_));
  if (steps_ == nullptr) steps_ = static_cast<steps_taken*>(map_pages(sizeof *steps_));
  if (made_ == nullptr) {
    void* room = map_pages(bytes_for(2 * deepest_stack));
    if (room != nullptr) made_ = lay_out(room, 2 * deepest_stack);
  }
  if (walks_ == nullptr || made_ == nullptr || steps_ == nullptr) return false;
  clear();
  generation_ = generation;
  return true;
}

// A walk with room for `capacity` frames: 16 times a power of two. Null if there is no memory.
stack_memo::walk* stack_memo::make_walk(std::uint32_t capacity) noexcept {
  walk*& unused = unused_[__builtin_ctz(capacity / least_capacity)];
  if (walk* again = unused) {
    unused = again->next_unused;
    return again;
  }
  constexpr std::size_t at_once = std::size_t{64} * 1024;
  const std::size_t bytes = bytes_for(capacity);
  if (room_left_ < bytes) {
    room_ = static_cast<char*>(map_pages(at_once));
    room_left_ = room_ != nullptr ? at_once : 0;
  }
  if (room_left_ < bytes) return nullptr;
  walk* made = lay_out(room_, capacity);
  room_ += bytes;
  room_left_ -= bytes;
  return made;
}

void stack_memo::recycle(walk* old) noexcept {
  walk*& unused = unused_[__builtin_ctz(old->capacity / least_capacity)];
  old->next_unused = unused;
  unused = old;
}

// Remembers the walk, in no more room than it needs, in place of the previous one with the same index.
void stack_memo::keep(const walk& made) noexcept {
  const std::uint32_t needed = made.depth > made.other_words ? made.depth : made.other_words;
  std::uint32_t capacity = least_capacity;
  while (capacity < needed) capacity *= 2;
  walk*& place = walks_[index_of(made.start)];
  if (place != nullptr && place->capacity != capacity) {
    recycle(place);
    place = nullptr;
  }
  if (place == nullptr) place = make_walk(capacity);
  last_ = place;
  if (place == nullptr) return;
  *place = made;
  lay_out(place, capacity);
  memcpy(place->bp_matters_from, made.bp_matters_from, flag_words * sizeof *made.bp_matters_from);
  memcpy(place->frames, made.frames, made.depth * sizeof *made.frames);
  memcpy(place->others, made.others, made.other_words * sizeof *made.others);
  memcpy(place->bps, made.bps, made.depth * sizeof *made.bps);
}

MALLARD_NOINLINE std::uint32_t stack_memo::walk_anew(context_tree& contexts, walk_start start,
                                                     const stack_range& stack) noexcept {
  if (!prepare()) {
    if (spool_header* spool = current_spool()) spool->contexts_wanting.fetch_add(1);
    return 0;
  }
  walk& made = *made_;
  const walk* before = last_ != nullptr && last_->stack_end == stack.end ? last_ : nullptr;
  walker walking(made, before, stack, *steps_);
  walking.run(start);
  spool_header* spool = current_spool();
  if (spool == nullptr) return 0;
  std::uint32_t i = walking.known_from() < made.depth ? walking.known_from() : made.depth;
  std::uint32_t context = i < made.depth ? made.frames[i].context : 0;
  for (; i > 0; --i) {
    frame& inner = made.frames[i - 1];
    const std::uint32_t offset =
        i < made.depth ? (made.frames[i].distance - inner.distance) / sizeof(std::uintptr_t) : 0;
    context = contexts.child(spool, context, inner.return_address, offset);
    inner.context = context;
  }
  made.context = context;
  made.scopes_key = 0;
  keep(made);
  return context;
}

MALLARD_NOINLINE std::uint32_t stack_memo::context_in(const open_scopes& scopes, context_tree& contexts,
                                                      const walk_start& start,
                                                      const stack_range& stack) noexcept {
  const std::uint32_t plain = context_of(contexts, start, stack);
  spool_header* spool = current_spool();
  if (scopes.count == 0 || spool == nullptr || last_ == nullptr) return plain;
  walk& known = *last_;
  if (known.context != plain || known.start.sp != start.sp) return plain;  // this one was not kept
  if (known.scopes_key == scopes.key()) return known.context_in_scopes;
  const frame* frames = known.frames;
  std::uint32_t context = 0;
  std::uint32_t begun = 0;
  for (std::uint32_t i = known.depth; i-- > 0;) {
    const std::uintptr_t slot =
        start.sp + static_cast<std::uintptr_t>(static_cast<std::int32_t>(frames[i].distance));
    for (; begun < scopes.count && scopes.chain[begun].frame > slot; ++begun)
      context = contexts.scope(spool, context, scopes.chain[begun].place);
    const std::uint32_t offset =
        i + 1 < known.depth ? (frames[i + 1].distance - frames[i].distance) / sizeof(std::uintptr_t) : 0;
    context = contexts.child(spool, context, frames[i].return_address, offset);
  }
  known.scopes_key = scopes.key();
  return known.context_in_scopes = context;
}

void stack_memo::clear() noexcept {
  for (std::size_t i = 0; walks_ != nullptr && i < remembered; ++i) {
    if (walks_[i] != nullptr) recycle(walks_[i]);
    walks_[i] = nullptr;
  }
  last_ = nullptr;
}

}  // namespace mallard::recorder
