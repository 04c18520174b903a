#include "unwind/call_frame_program.hpp"

#include <cstddef>

#include "unwind/dwarf_reader.hpp"

namespace mallard::unwind {

namespace {

// DWARF 5, 6.4.2 and the GNU additions. The first three carry an operand in their low six bits.
enum instruction : std::uint8_t {
  advance = 0x40,
  offset = 0x80,
  restore = 0xc0,
  nop = 0x00,
  set_location = 0x01,
  advance_1 = 0x02,
  advance_2 = 0x03,
  advance_4 = 0x04,
  offset_extended = 0x05,
  restore_extended = 0x06,
  undefined = 0x07,
  same_value = 0x08,
  in_register = 0x09,
  remember_state = 0x0a,
  restore_state = 0x0b,
  define_cfa = 0x0c,
  define_cfa_register = 0x0d,
  define_cfa_offset = 0x0e,
  define_cfa_expression = 0x0f,
  expression = 0x10,
  offset_extended_signed = 0x11,
  define_cfa_signed = 0x12,
  define_cfa_offset_signed = 0x13,
  value_offset = 0x14,
  value_offset_signed = 0x15,
  value_expression = 0x16,
  gnu_arguments_size = 0x2e,
  gnu_negative_offset_extended = 0x2f,
};

constexpr std::size_t remembered_rows = 8;  // compilers nest one

class machine {
 public:
  machine(const frame_description& function, std::uintptr_t pc) noexcept : function_(function), pc_(pc) {}

  [[nodiscard]] bool run(frame_row& out) noexcept {
    location_ = function_.function_begin;
    if (!run(function_.initial_program)) return false;
    initial_ = row_;
    location_ = function_.function_begin;
    passed_ = false;
    if (!run(function_.program)) return false;
    out = row_;
    return true;
  }

 private:
  bool run(dwarf_reader program) noexcept {
    while (!program.at_end() && !passed_) {
      if (!step(program)) return false;
    }
    return !program.failed();
  }

  bool step(dwarf_reader& program) noexcept {
    const auto byte = program.read<std::uint8_t>();
    const std::uint8_t operand = byte & 0x3f;
    switch (byte & 0xc0) {
      case advance:
        return advance_by(operand);
      case offset:
        return set(operand, value_of::memory_at_cfa, program.read_uleb() * function_.data_alignment);
      case restore:
        return restore_register(operand);
      default:
        return step_extended(byte, program);
    }
  }

  bool step_extended(std::uint8_t code, dwarf_reader& program) noexcept {
    switch (code) {
      case nop:
        return true;
      case set_location:
        return move_to(program.read_pointer(function_.encoding, function_.header));
      case advance_1:
        return advance_by(program.read<std::uint8_t>());
      case advance_2:
        return advance_by(program.read<std::uint16_t>());
      case advance_4:
        return advance_by(program.read<std::uint32_t>());
      case restore_extended:
        return restore_register(program.read_uleb());
      case remember_state:
        return remember();
      case restore_state:
        return recall();
      case define_cfa:
      case define_cfa_signed:
      case define_cfa_register:
      case define_cfa_offset:
      case define_cfa_offset_signed:
      case define_cfa_expression:
        return step_cfa(code, program);
      case gnu_arguments_size:
        return program.read_uleb(), true;
      default:
        return step_register(code, program.read_uleb(), program);
    }
  }

  bool step_cfa(std::uint8_t code, dwarf_reader& program) noexcept {
    switch (code) {
      case define_cfa:
        base_cfa_on(program.read_uleb());
        return set_cfa_offset(program.read_uleb());
      case define_cfa_signed:
        base_cfa_on(program.read_uleb());
        return set_cfa_offset(scaled(program.read_sleb()));
      case define_cfa_register:
        return row_.cfa != cfa_from::expression && base_cfa_on(program.read_uleb());
      case define_cfa_offset:
        return set_cfa_offset(program.read_uleb());
      case define_cfa_offset_signed:
        return set_cfa_offset(scaled(program.read_sleb()));
      default:
        row_.cfa = cfa_from::expression;
        row_.cfa_expression = program.take_block();
        return true;
    }
  }

  bool step_register(std::uint8_t code, std::uint64_t number, dwarf_reader& program) noexcept {
    switch (code) {
      case offset_extended:
        return set(number, value_of::memory_at_cfa, program.read_uleb() * function_.data_alignment);
      case offset_extended_signed:
        return set(number, value_of::memory_at_cfa, scaled(program.read_sleb()));
      case gnu_negative_offset_extended:
        return set(number, value_of::memory_at_cfa, -(program.read_uleb() * function_.data_alignment));
      case value_offset:
        return set(number, value_of::cfa_plus, program.read_uleb() * function_.data_alignment);
      case value_offset_signed:
        return set(number, value_of::cfa_plus, scaled(program.read_sleb()));
      case undefined:
        return set(number, value_of::undefined, 0);
      case same_value:
        return set(number, value_of::unchanged, 0);
      case in_register:
        return program.read_uleb(), set(number, value_of::other_register, 0);
      case expression:
        return set(number, value_of::memory_at_result, program.take_block());
      case value_expression:
        return set(number, value_of::result, program.take_block());
      default:
        return false;
    }
  }

  [[nodiscard]] std::uint64_t scaled(std::int64_t factor) const noexcept {
    return static_cast<std::uint64_t>(factor) * function_.data_alignment;
  }

  bool advance_by(std::uint64_t delta) noexcept {
    return move_to(location_ + delta * function_.code_alignment);
  }

  bool move_to(std::uintptr_t location) noexcept {
    passed_ = location > pc_;
    location_ = location;
    return true;
  }

  bool base_cfa_on(std::uint64_t number) noexcept {
    row_.cfa = number == dwarf_sp   ? cfa_from::sp
               : number == dwarf_bp ? cfa_from::bp
                                    : cfa_from::other_register;
    return true;
  }

  bool set_cfa_offset(std::uint64_t value) noexcept {
    row_.cfa_offset = value;
    return row_.cfa != cfa_from::expression;
  }

  // The rule of a register in a row; null for one that is not followed.
  static register_rule* rule_in(frame_row& row, std::uint64_t number) noexcept {
    switch (number) {
      case dwarf_sp:
        return &row.sp;
      case dwarf_bp:
        return &row.bp;
      case dwarf_pc:
        return &row.pc;
      default:
        return nullptr;
    }
  }

  // The same of those that are kept for a caller.
  static kept_rule* kept_in(frame_row& row, std::uint64_t number) noexcept {
    for (std::size_t i = 0; i < kept_registers; ++i)
      if (dwarf_kept[i] == number) return &row.kept[i];
    return nullptr;
  }

  bool set(std::uint64_t number, value_of how, std::uint64_t from_cfa) noexcept {
    if (register_rule* rule = rule_in(row_, number))
      *rule = {how, from_cfa, {}};
    else if (kept_rule* kept = kept_in(row_, number))
      *kept = {how, from_cfa};
    return true;
  }

  bool set(std::uint64_t number, value_of how, dwarf_reader told_by) noexcept {
    if (register_rule* rule = rule_in(row_, number))
      *rule = {how, 0, told_by};
    else if (kept_rule* kept = kept_in(row_, number))
      *kept = {how, 0};
    return true;
  }

  bool restore_register(std::uint64_t number) noexcept {
    if (register_rule* rule = rule_in(row_, number))
      *rule = *rule_in(initial_, number);
    else if (kept_rule* kept = kept_in(row_, number))
      *kept = *kept_in(initial_, number);
    return true;
  }

  bool remember() noexcept {
    if (depth_ == remembered_rows) return false;
    remembered_[depth_++] = row_;
    return true;
  }

  bool recall() noexcept {
    if (depth_ == 0) return false;
    row_ = remembered_[--depth_];
    return true;
  }

  const frame_description& function_;
  std::uintptr_t pc_;
  std::uintptr_t location_ = 0;
  bool passed_ = false;  // the location is beyond the pc: the row is complete
  std::size_t depth_ = 0;
  frame_row row_;
  frame_row initial_;
  frame_row remembered_[remembered_rows];
};

}  // namespace

bool find_row(const frame_description& function, std::uintptr_t pc, frame_row& out) noexcept {
  return machine(function, pc).run(out);
}

}  // namespace mallard::unwind
