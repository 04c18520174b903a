#include "unwind/walks.hpp"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>

#include <algorithm>

#include "unwind/rule_cache.hpp"

namespace mallard::unwind::test {

namespace {

std::uintptr_t word_at(std::uintptr_t address) noexcept {
  return *reinterpret_cast<const std::uintptr_t*>(address);
}

// The step of a packed rule, as a walk takes it.
bool step_packed(frame_rule rule, const stack_range& stack, frame_registers& frame) noexcept {
  const std::uintptr_t base = rule.kind() == frame_kind::sp ? frame.sp : frame.bp;
  const std::uintptr_t cfa = base + static_cast<std::uintptr_t>(rule.cfa_offset());
  if (cfa < stack.begin + 8 || cfa > stack.end) return false;
  frame.pc = word_at(cfa - 8);
  frame.sp = cfa;
  frame.pc_is_exact = false;
  if (rule.caller_bp() == bp_from::cfa)
    frame.bp = word_at(cfa + static_cast<std::uintptr_t>(rule.bp_offset()));
  if (rule.caller_bp() == bp_from::undefined) frame.bp_is_lost = true;
  return true;
}

bool equal(const frame_registers& left, const frame_registers& right) noexcept {
  return left.pc == right.pc && left.sp == right.sp && left.pc_is_exact == right.pc_is_exact &&
         left.bp_is_lost == right.bp_is_lost && (left.bp_is_lost || left.bp == right.bp);
}

void walk_ours(frame_registers frame, const stack_range& stack, walked_stack& out) noexcept {
  while (out.depth < walked_stack::max_depth) {
    out.pcs[out.depth++] = frame.pc;
    const frame_rule rule = frame.pc_is_exact ? find_frame_rule(frame.pc) : known_rules.rule_of(frame.pc);
    if (rule.kind() == frame_kind::outermost) return;
    frame_step general;
    const bool stepped = step_by_expression(frame, stack, general);
    if (rule.kind() == frame_kind::sp || rule.kind() == frame_kind::bp) {
      const bool packed_stepped = step_packed(rule, stack, frame);
      out.steps_agree &= packed_stepped == stepped && (!stepped || equal(frame, general.caller));
    }
    out.ended_unknown = !stepped;
    if (!stepped) return;
    frame = general.caller;
  }
}

void walk_theirs(ucontext_t& from, walked_stack& out) noexcept {
  unw_cursor_t cursor;
  unw_init_local(&cursor, &from);
  do {
    unw_word_t pc = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    out.pcs[out.depth++] = pc;
  } while (out.depth < walked_stack::max_depth && unw_step(&cursor) > 0);
}

}  // namespace

stack_range this_stack() noexcept {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
  return {begin, begin + size};
}

void walk_both(ucontext_t& from, const stack_range& stack, two_walks& out) noexcept {
  out = {};
  const auto& registers = from.uc_mcontext.gregs;
  walk_ours({static_cast<std::uintptr_t>(registers[REG_RIP]), static_cast<std::uintptr_t>(registers[REG_RSP]),
             static_cast<std::uintptr_t>(registers[REG_RBP]), true},
            stack, out.ours);
  walk_theirs(from, out.theirs);
}

bool same(const two_walks& walks) noexcept {
  return walks.ours.depth == walks.theirs.depth && walks.ours.steps_agree &&
         std::equal(walks.ours.pcs.begin(), walks.ours.pcs.begin() + walks.ours.depth,
                    walks.theirs.pcs.begin());
}

}  // namespace mallard::unwind::test
