#include "recorder/preload/stack/last_stack.hpp"

#include <string.h>

#include <atomic>

#include "recorder/preload/spool/raw_calls.hpp"
#include "unwind/rule_cache.hpp"

namespace mallard::recorder {

using unwind::bp_from;
using unwind::frame_kind;
using unwind::frame_registers;
using unwind::frame_rule;
using unwind::frame_step;

// Walks from inside outwards, until it meets a frame of before that holds with all that is outside.
class last_stack::walker {
 public:
  walker(const last_stack& before, const stack_range& stack) noexcept
      : before_(before), memory_(*before.memory_), stack_(stack), met_(before.depth_) {}

  void run(const walk_start& start) noexcept {
    start_sp_ = start.sp;
    at_ = {start.return_address, start.sp, start.bp, false};
    slot_ = start.sp - sizeof(std::uintptr_t);
    for (steps_ = 0; !meets(); ++steps_) {
      if (steps_ == memory_.most) {
        met_ = 0;
        reached_end_ = false;
        lacks_room_ = true;
        return;
      }
      memory_.steps[steps_] = {slot_, at_.pc, at_.bp, 0, read_, at_.pc_is_exact, false, false};
      if (!step_out(memory_.steps[steps_])) {
        ++steps_;
        met_ = 0;
        return;
      }
    }
  }

  [[nodiscard]] std::uint32_t met() const noexcept { return met_; }  // frames outside of the steps
  [[nodiscard]] std::uint32_t steps() const noexcept { return steps_; }
  [[nodiscard]] std::uint32_t words_read() const noexcept { return read_; }
  [[nodiscard]] bool reached_end() const noexcept { return reached_end_; }
  [[nodiscard]] bool lacks_room() const noexcept { return lacks_room_ || met_ + steps_ > memory_.most; }

 private:
  // Whether this frame is the one in the same slot of before, with all that is outside.
  bool meets() noexcept {
    while (met_ > 0 && memory_.frames[met_ - 1].slot < slot_) --met_;
    if (met_ == 0) return false;
    const frame& known = memory_.frames[met_ - 1];
    if (known.slot != slot_ || known.return_address != at_.pc || at_.pc_is_exact || known.pc_is_exact)
      return false;
    if (known.bp_matters && (at_.bp_is_lost || known.bp != at_.bp)) return false;
    if (!before_.is_whole_ && steps_ + met_ < deepest_stack) return false;
    const std::uint32_t holding = before_.holds_from(met_ - 1);
    if (holding == met_) return true;
    met_ = holding;
    return false;
  }

  // Goes from a frame to its caller's.
  bool step_out(step& from) noexcept {
    const frame_rule rule = at_.pc_is_exact ? unwind::find_frame_rule(at_.pc) : rule_of(at_.pc);
    switch (rule.kind()) {
      case frame_kind::sp:
        return step_to(from, at_.sp + static_cast<std::uintptr_t>(rule.cfa_offset()), rule);
      case frame_kind::bp:
        from.uses_bp = true;
        return !at_.bp_is_lost &&
               step_to(from, at_.bp + static_cast<std::uintptr_t>(rule.cfa_offset()), rule);
      case frame_kind::expression:
        from.uses_bp = true;
        return step_generally();
      default:
        return false;
    }
  }

  frame_rule rule_of(std::uintptr_t return_address) noexcept {
    known_rule& known = memory_.rules[return_address * 0x9e3779b97f4a7c15u >> (64 - rule_bits)];
    if (known.return_address == return_address) return known.rule;
    const frame_rule rule = unwind::known_rules.rule_of(return_address);
    if (rule.kind() == frame_kind::unknown) return rule;  // a module may be loaded there later
    known.return_address = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    known.rule = rule;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    known.return_address = return_address;
    return rule;
  }

  bool step_to(step& from, std::uintptr_t cfa, frame_rule rule) noexcept {
    if (cfa <= at_.sp || cfa > stack_.end || cfa % sizeof(std::uintptr_t) != 0) return false;
    from.keeps_bp = rule.caller_bp() == bp_from::unchanged;
    if (rule.caller_bp() == bp_from::cfa) {
      const std::uintptr_t saved = cfa + static_cast<std::uintptr_t>(rule.bp_offset());
      if (saved < stack_.begin || saved > stack_.end - sizeof(std::uintptr_t)) return false;
      from.bp_slot = saved;
      at_.bp = word_at(saved);
      at_.bp_is_lost = false;
    } else if (rule.caller_bp() == bp_from::undefined) {
      at_.bp_is_lost = true;
    }
    slot_ = cfa - sizeof(std::uintptr_t);
    at_.pc = word_at(slot_);
    at_.pc_is_exact = false;
    at_.sp = cfa;
    return ends_not();
  }

  bool step_generally() noexcept {
    frame_step general;
    if (!unwind::step_by_expression(at_, stack_, general) || general.caller.sp <= at_.sp) return false;
    const std::uintptr_t inner = slot_;
    slot_ = 0;
    for (unsigned i = 0; i < general.read_count; ++i) {
      const word_read& word = general.reads[i];
      if (word.address < start_sp_ || !note(word)) return false;
      if (word.value == general.caller.pc) slot_ = word.address;
    }
    at_ = general.caller;
    return slot_ > inner && ends_not();
  }

  // A return address of 0 ends the stack; the word is part of what the walk has read.
  bool ends_not() noexcept {
    if (at_.pc != 0) return true;
    note({slot_, 0});
    return false;
  }

  bool note(const word_read& word) noexcept {
    if (read_ == memory_.words_of_steps) {
      lacks_room_ = true;
      return false;
    }
    memory_.read[read_++] = word;
    return true;
  }

  const last_stack& before_;
  memory& memory_;
  const stack_range& stack_;
  std::uintptr_t start_sp_ = 0;
  frame_registers at_{};
  std::uintptr_t slot_ = 0;
  std::uint32_t met_;
  std::uint32_t steps_ = 0;
  std::uint32_t read_ = 0;
  bool reached_end_ = true;
  bool lacks_room_ = false;
};

// Of the frames from `inner` outwards, the number of the outermost ones that hold: inner + 1, or fewer. The
// words are read as a walk from there reads them: one that is gone comes behind one that has changed.
std::uint32_t last_stack::holds_from(std::uint32_t inner) const noexcept {
  const frame* frames = memory_->frames;
  for (std::uint32_t i = inner;; --i) {
    const std::uint32_t words_begin = i == 0 ? 0 : frames[i - 1].words_end;
    for (std::uint32_t w = words_begin; w < frames[i].words_end; ++w)
      if (word_at(memory_->words[w].address) != memory_->words[w].value) return i;
    if (i == 0) return inner + 1;
    if (word_at(frames[i - 1].slot) != frames[i - 1].return_address) return i - 1;
  }
}

// Makes room for the first stacks, or twice as much, and drops the stack; false if there is no memory.
bool last_stack::grow() noexcept {
  constexpr std::uint32_t words_a_step = 4;
  const std::uint32_t most = memory_ == nullptr ? frames_at_first : 2 * memory_->most;
  const auto bytes_for = [](std::size_t frames) {
    return sizeof(memory) +
           frames * (2 * sizeof(frame) + sizeof(step) + 3 * words_a_step * sizeof(word_read));
  };
  auto* made = static_cast<memory*>(map_pages(bytes_for(most)));
  if (made == nullptr) return false;
  made->most = most;
  made->words_of_steps = words_a_step * most;
  made->all_words = 2 * made->words_of_steps;
  made->frames = reinterpret_cast<frame*>(made + 1);
  made->steps = reinterpret_cast<step*>(made->frames + std::size_t{2} * most);
  made->words = reinterpret_cast<word_read*>(made->steps + most);
  made->read = made->words + made->all_words;
  memory* const before = memory_;
  memory_ = made;
  drop();
  if (before != nullptr) unmap_pages(before, bytes_for(before->most));
  return true;
}

void last_stack::drop() noexcept {
  depth_ = named_ = words_ = 0;
  scopes_key_ = 0;
}

void last_stack::clear() noexcept {
  drop();
  if (memory_ == nullptr) return;
  for (known_rule& known : memory_->rules) known.return_address = 0;
}

// Drops all but the outermost ones.
void last_stack::keep(std::uint32_t frames) noexcept {
  depth_ = frames;
  words_ = frames == 0 ? 0 : memory_->frames[frames - 1].words_end;
  if (named_ > frames) named_ = frames;
}

// Adds a frame inside, with the words that were read on the way from it outwards.
void last_stack::add(const step& inner, const word_read* read, std::uint32_t count) noexcept {
  const frame* caller = depth_ == 0 ? nullptr : &memory_->frames[depth_ - 1];
  const bool caller_needs_bp = caller != nullptr && caller->bp_matters;
  if (words_ + count + 1 <= memory_->all_words) {
    for (std::uint32_t i = 0; i < count; ++i) memory_->words[words_++] = read[i];
    if (caller_needs_bp && inner.bp_slot != 0) memory_->words[words_++] = {inner.bp_slot, caller->bp};
  } else {
    has_all_words_ = false;
  }
  frame& added = memory_->frames[depth_++];
  added = {inner.slot, inner.pc, inner.bp, 0, words_ & 0x3fffffff, 0, inner.pc_is_exact};
  added.bp_matters = inner.uses_bp || (inner.keeps_bp && caller_needs_bp);
}

// Drops the outermost frames of a stack that is too deep, and the contexts, which began with them.
void last_stack::cut() noexcept {
  if (depth_ <= most_frames) return;
  const std::uint32_t gone = (depth_ - most_frames + deepest_stack - 1) / deepest_stack * deepest_stack;
  const std::uint32_t words_gone = memory_->frames[gone - 1].words_end;
  depth_ -= gone;
  words_ -= words_gone;
  memmove(memory_->frames, memory_->frames + gone, depth_ * sizeof(frame));
  memmove(memory_->words, memory_->words + words_gone, words_ * sizeof(word_read));
  for (std::uint32_t i = 0; i < depth_; ++i)
    memory_->frames[i].words_end = (memory_->frames[i].words_end - words_gone) & 0x3fffffff;
  named_ = 0;
  is_whole_ = false;
}

// A signal's handler may leave this by a jump: until the end, what is here is not to be met again.
MALLARD_NOINLINE bool last_stack::walk(const walk_start& start, const stack_range& stack) noexcept {
  if (memory_ == nullptr && !grow()) return false;
  if (stack_end_ != stack.end || !has_all_words_ || !is_complete_) drop();
  is_complete_ = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  stack_end_ = stack.end;
  has_all_words_ = true;
  walker walking(*this, stack);
  walking.run(start);
  if (walking.lacks_room() && memory_->most < most_frames) {
    if (!grow()) return false;
    return walk(start, stack);
  }
  if (walking.steps() != 0 || walking.met() != depth_) scopes_key_ = 0;
  keep(walking.met());
  if (depth_ == 0) is_whole_ = walking.reached_end();
  std::uint32_t read_end = walking.words_read();
  for (std::uint32_t i = walking.steps(); i-- > 0;) {
    const step& next = memory_->steps[i];
    add(next, &memory_->read[next.words_begin], read_end - next.words_begin);
    read_end = next.words_begin;
  }
  cut();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  is_complete_ = true;
  return true;
}

// Of frame i, in words to the return address of the frame outside; 0: unknown.
std::uint32_t last_stack::offset_of(std::uint32_t i) const noexcept {
  const frame* frames = memory_->frames;
  return i == 0 ? 0
                : static_cast<std::uint32_t>((frames[i - 1].slot - frames[i].slot) / sizeof(std::uintptr_t));
}

// Finds the contexts of the frames that are new.
void last_stack::name(context_tree& contexts, spool_header* spool) noexcept {
  frame* frames = memory_->frames;
  std::uint32_t context = named_ == 0 ? 0 : frames[named_ - 1].context;
  for (; named_ < depth_; ++named_)
    context = frames[named_].context =
        contexts.child(spool, context, frames[named_].return_address, offset_of(named_));
}

std::uint32_t last_stack::context(context_tree& contexts, spool_header* spool, std::uint32_t depth) noexcept {
  if (depth == 0 || depth >= depth_) {
    name(contexts, spool);
    return memory_->frames[depth_ - 1].context;
  }
  const std::uint32_t first = depth_ - depth;
  std::uint32_t context = 0;
  for (std::uint32_t i = first; i < depth_; ++i)
    context = contexts.child(spool, context, memory_->frames[i].return_address, i > first ? offset_of(i) : 0);
  return context;
}

std::uint32_t last_stack::context_in(const open_scopes& scopes, context_tree& contexts, spool_header* spool,
                                     std::uint32_t depth) noexcept {
  if (scopes_key_ == scopes.key()) return context_in_scopes_;
  const frame* frames = memory_->frames;
  std::uint32_t first = depth == 0 || depth >= depth_ ? 0 : depth_ - depth;
  std::uint32_t context = 0;
  std::uint32_t begun = 0;
  std::uint32_t i = first;
  if (first == 0) {  // outside of all scopes the contexts are known
    name(contexts, spool);
    while (i < depth_ && frames[i].slot >= scopes.chain[0].frame) context = frames[i++].context;
  }
  for (; i < depth_; ++i) {
    for (; begun < scopes.count && scopes.chain[begun].frame > frames[i].slot; ++begun)
      context = contexts.scope(spool, context, scopes.chain[begun].place);
    context = contexts.child(spool, context, frames[i].return_address, i > first ? offset_of(i) : 0);
  }
  scopes_key_ = scopes.key();
  return context_in_scopes_ = context;
}

}  // namespace mallard::recorder
