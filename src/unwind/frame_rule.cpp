#include "unwind/frame_rule.hpp"

#include <cstdint>

#include "unwind/call_frame_program.hpp"
#include "unwind/dwarf_reader.hpp"
#include "unwind/eh_frame_table.hpp"
#include "unwind/frame_expression.hpp"

namespace mallard::unwind {

namespace {

bool find_row_at(const eh_frame_table& table, std::uintptr_t pc, frame_row& row,
                 bool& is_signal_frame) noexcept {
  frame_description function;
  if (!find_description(table, pc, function)) return false;
  is_signal_frame = function.is_signal_frame;
  return find_row(function, pc, row);
}

// Whether the caller's sp is the CFA and its pc is where a call leaves it.
bool left_by_call(const frame_row& row) noexcept {
  return row.pc.how == value_of::memory_at_cfa &&
         row.pc.offset == static_cast<std::uint64_t>(return_address_place) &&
         row.sp.how == value_of::cfa_plus && row.sp.offset == 0;
}

bool fits_bits(std::int64_t value, unsigned bits) noexcept {
  return value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1);
}

// The packed form of a row; kind `expression` where it has none.
frame_rule pack(const frame_row& row) noexcept {
  constexpr frame_rule no_packed_form(frame_kind::expression);
  if (row.pc.how == value_of::undefined) return frame_rule(frame_kind::outermost);
  if (row.cfa == cfa_from::nothing || row.cfa == cfa_from::other_register) return {};
  if (row.pc.how == value_of::unchanged || row.pc.how == value_of::other_register) return {};
  if (row.cfa == cfa_from::expression || !left_by_call(row)) return no_packed_form;
  const auto cfa_offset = static_cast<std::int64_t>(row.cfa_offset);
  const auto bp_offset = static_cast<std::int64_t>(row.bp.offset);
  if (!fits_bits(cfa_offset, 32) || !fits_bits(bp_offset, 27) || bp_offset % 8 != 0) return no_packed_form;
  const frame_kind kind = row.cfa == cfa_from::sp ? frame_kind::sp : frame_kind::bp;
  const auto packed = [&](bp_from bp) {
    return frame_rule(kind, static_cast<std::int32_t>(cfa_offset), bp, static_cast<std::int32_t>(bp_offset));
  };
  switch (row.bp.how) {
    case value_of::unchanged:
      return packed(bp_from::unchanged);
    case value_of::memory_at_cfa:
      return packed(bp_from::cfa);
    case value_of::undefined:
    case value_of::other_register:
      return packed(bp_from::undefined);
    default:
      return no_packed_form;
  }
}

// The values that a row tells, for one frame.
class row_values {
 public:
  row_values(const frame_registers& frame, stack_reader& memory) noexcept : frame_(frame), memory_(memory) {}

  [[nodiscard]] bool find_cfa(const frame_row& row) noexcept {
    switch (row.cfa) {
      case cfa_from::sp:
        cfa_ = frame_.sp + row.cfa_offset;
        return true;
      case cfa_from::bp:
        cfa_ = frame_.bp + row.cfa_offset;
        return !frame_.bp_is_lost;
      case cfa_from::expression:
        return evaluate(row.cfa_expression, frame_, memory_, nullptr, cfa_);
      default:
        return false;
    }
  }

  // Precondition: the CFA has been found.
  [[nodiscard]] bool find(const register_rule& rule, std::uintptr_t unchanged,
                          std::uintptr_t& value) noexcept {
    std::uint64_t address = 0;
    switch (rule.how) {
      case value_of::unchanged:
        value = unchanged;
        return true;
      case value_of::memory_at_cfa:
        return memory_.read_word(cfa_ + rule.offset, value);
      case value_of::cfa_plus:
        value = cfa_ + rule.offset;
        return true;
      case value_of::memory_at_result:
        return evaluate(rule.expression, frame_, memory_, &cfa_, address) &&
               memory_.read_word(address, value);
      case value_of::result:
        return evaluate(rule.expression, frame_, memory_, &cfa_, value);
      default:
        return false;
    }
  }

 private:
  const frame_registers& frame_;
  stack_reader& memory_;
  std::uint64_t cfa_ = 0;
};

std::uintptr_t inside_of(const frame_registers& frame) noexcept { return frame.pc - !frame.pc_is_exact; }

}  // namespace

frame_rule find_frame_rule(const eh_frame_table& table, std::uintptr_t pc) noexcept {
  frame_row row;
  bool is_signal_frame = false;
  if (!find_row_at(table, pc, row, is_signal_frame)) return {};
  const frame_rule rule = pack(row);
  // What follows a signal frame is an exact pc, which no packed form says.
  const bool is_packed = rule.kind() == frame_kind::sp || rule.kind() == frame_kind::bp;
  return is_packed && is_signal_frame ? frame_rule(frame_kind::expression) : rule;
}

frame_rule find_frame_rule(std::uintptr_t pc) noexcept {
  eh_frame_table table;
  return find_table(pc, table) ? find_frame_rule(table, pc) : frame_rule();
}

bool step_by_expression(const eh_frame_table& table, const frame_registers& frame, const stack_range& stack,
                        frame_step& out) noexcept {
  frame_row row;
  bool is_signal_frame = false;
  if (!find_row_at(table, inside_of(frame), row, is_signal_frame)) return false;
  if (row.pc.how == value_of::unchanged) return false;
  stack_reader memory(stack, out);
  row_values values(frame, memory);
  frame_registers& caller = out.caller;
  if (!values.find_cfa(row) || !values.find(row.pc, 0, caller.pc)) return false;
  if (!values.find(row.sp, frame.sp, caller.sp)) return false;
  const bool is_lost = row.bp.how == value_of::undefined || row.bp.how == value_of::other_register;
  caller.bp = 0;
  if (!is_lost && !values.find(row.bp, frame.bp, caller.bp)) return false;
  caller.bp_is_lost = is_lost || (row.bp.how == value_of::unchanged && frame.bp_is_lost);
  caller.pc_is_exact = is_signal_frame;
  return true;
}

bool step_by_expression(const frame_registers& frame, const stack_range& stack, frame_step& out) noexcept {
  eh_frame_table table;
  return find_table(inside_of(frame), table) && step_by_expression(table, frame, stack, out);
}

}  // namespace mallard::unwind
