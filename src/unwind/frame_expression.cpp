#include "unwind/frame_expression.hpp"

#include <cstddef>

#include "unwind/dwarf_reader.hpp"

namespace mallard::unwind {

namespace {

// DWARF 5, 2.5.1. Of lit and breg the operand is in the code itself.
enum operation : std::uint8_t {
  op_address = 0x03,
  op_deref = 0x06,
  op_const_1u = 0x08,
  op_const_1s = 0x09,
  op_const_2u = 0x0a,
  op_const_2s = 0x0b,
  op_const_4u = 0x0c,
  op_const_4s = 0x0d,
  op_const_8u = 0x0e,
  op_const_8s = 0x0f,
  op_const_uleb = 0x10,
  op_const_sleb = 0x11,
  op_dup = 0x12,
  op_drop = 0x13,
  op_over = 0x14,
  op_pick = 0x15,
  op_swap = 0x16,
  op_rotate = 0x17,
  op_abs = 0x19,
  op_and = 0x1a,
  op_div = 0x1b,
  op_minus = 0x1c,
  op_mod = 0x1d,
  op_mul = 0x1e,
  op_neg = 0x1f,
  op_not = 0x20,
  op_or = 0x21,
  op_plus = 0x22,
  op_plus_uleb = 0x23,
  op_shl = 0x24,
  op_shr = 0x25,
  op_shra = 0x26,
  op_xor = 0x27,
  op_branch = 0x28,
  op_eq = 0x29,
  op_ge = 0x2a,
  op_gt = 0x2b,
  op_le = 0x2c,
  op_lt = 0x2d,
  op_ne = 0x2e,
  op_skip = 0x2f,
  op_literal = 0x30,   // ... 0x4f
  op_register = 0x70,  // ... 0x8f: a register plus an offset
  op_register_x = 0x92,
  op_nop = 0x96,
};

constexpr std::size_t max_values = 16;
constexpr unsigned max_operations = 256;

class stack_machine {
 public:
  stack_machine(dwarf_reader code, const frame_registers& frame, stack_reader& memory) noexcept
      : begin_(code.position()), code_(code), frame_(frame), memory_(memory) {}

  void push(std::uint64_t value) noexcept {
    if (count_ == max_values)
      failed_ = true;
    else
      values_[count_++] = value;
  }

  [[nodiscard]] bool run(std::uint64_t& result) noexcept {
    for (unsigned i = 0; !code_.at_end() && !failed_; ++i) {
      if (i == max_operations) return false;
      step(code_.read<std::uint8_t>());
    }
    result = pop();
    return !failed_ && !code_.failed();
  }

 private:
  void step(std::uint8_t code) noexcept {
    if (code >= op_literal && code < op_literal + 32) return push(code - op_literal);
    if (code >= op_register && code < op_register + 32) return push_register(code - op_register);
    switch (code) {
      case op_nop:
        return;
      case op_register_x:
        return push_register(code_.read_uleb());
      case op_deref:
        return dereference();
      case op_skip:
        return code_.jump(code_.read<std::int16_t>(), begin_);
      case op_branch:
        return branch();
      case op_plus_uleb:
        return push(pop() + code_.read_uleb());
      case op_abs:
        return push_absolute(pop());
      case op_neg:
        return push(-pop());
      case op_not:
        return push(~pop());
      default:
        break;
    }
    if (code <= op_const_sleb)
      push_constant(code);
    else if (code <= op_rotate)
      rearrange(code);
    else
      combine(code);
  }

  void push_constant(std::uint8_t code) noexcept {
    switch (code) {
      case op_address:
      case op_const_8u:
      case op_const_8s:
        return push(code_.read<std::uint64_t>());
      case op_const_1u:
        return push(code_.read<std::uint8_t>());
      case op_const_1s:
        return push_signed(code_.read<std::int8_t>());
      case op_const_2u:
        return push(code_.read<std::uint16_t>());
      case op_const_2s:
        return push_signed(code_.read<std::int16_t>());
      case op_const_4u:
        return push(code_.read<std::uint32_t>());
      case op_const_4s:
        return push_signed(code_.read<std::int32_t>());
      case op_const_uleb:
        return push(code_.read_uleb());
      case op_const_sleb:
        return push_signed(code_.read_sleb());
      default:
        failed_ = true;
    }
  }

  void rearrange(std::uint8_t code) noexcept {
    switch (code) {
      case op_dup:
        return push(value(0));
      case op_drop:
        pop();
        return;
      case op_over:
        return push(value(1));
      case op_pick:
        return push(value(code_.read<std::uint8_t>()));
      case op_swap:
        return lift(1);
      default:
        return lower_top();
    }
  }

  void combine(std::uint8_t code) noexcept {
    const std::uint64_t right = pop();
    const std::uint64_t left = pop();
    const auto signed_right = static_cast<std::int64_t>(right);
    const auto signed_left = static_cast<std::int64_t>(left);
    switch (code) {
      case op_and:
        return push(left & right);
      case op_or:
        return push(left | right);
      case op_xor:
        return push(left ^ right);
      case op_plus:
        return push(left + right);
      case op_minus:
        return push(left - right);
      case op_mul:
        return push(left * right);
      case op_div:
        return divide(signed_left, signed_right);
      case op_mod:
        return right == 0 ? void(failed_ = true) : push(left % right);
      case op_shl:
        return push(right < 64 ? left << right : 0);
      case op_shr:
        return push(right < 64 ? left >> right : 0);
      case op_shra:
        return push_signed(signed_left >> (right < 64 ? right : 63));
      case op_eq:
        return push(left == right);
      case op_ne:
        return push(left != right);
      case op_ge:
        return push(signed_left >= signed_right);
      case op_gt:
        return push(signed_left > signed_right);
      case op_le:
        return push(signed_left <= signed_right);
      case op_lt:
        return push(signed_left < signed_right);
      default:
        failed_ = true;
    }
  }

  void divide(std::int64_t left, std::int64_t right) noexcept {
    if (right == 0)
      failed_ = true;
    else if (right == -1)  // the one quotient that does not fit wraps around
      push(-static_cast<std::uint64_t>(left));
    else
      push_signed(left / right);
  }

  void dereference() noexcept {
    std::uintptr_t word = 0;
    if (!memory_.read_word(pop(), word)) failed_ = true;
    push(word);
  }

  void branch() noexcept {
    const auto distance = code_.read<std::int16_t>();
    if (pop() != 0) code_.jump(distance, begin_);
  }

  void push_register(std::uint64_t number) noexcept {
    const auto offset = static_cast<std::uint64_t>(code_.read_sleb());
    switch (number) {
      case dwarf_sp:
        return push(frame_.sp + offset);
      case dwarf_pc:
        return push(frame_.pc + offset);
      case dwarf_bp:
        if (!frame_.bp_is_lost) return push(frame_.bp + offset);
        [[fallthrough]];
      default:
        failed_ = true;
    }
  }

  void push_signed(std::int64_t value) noexcept { push(static_cast<std::uint64_t>(value)); }

  void push_absolute(std::uint64_t value) noexcept { push(value >> 63 ? -value : value); }

  // The value `depth` below the top; fails if there is none.
  [[nodiscard]] std::uint64_t value(std::size_t depth) noexcept {
    if (depth >= count_) return failed_ = true, 0;
    return values_[count_ - 1 - depth];
  }

  std::uint64_t pop() noexcept {
    const std::uint64_t top = value(0);
    if (count_ != 0) --count_;
    return top;
  }

  // Moves the value `depth` below the top to the top.
  void lift(std::size_t depth) noexcept {
    const std::uint64_t lifted = value(depth);
    if (failed_) return;
    for (std::size_t i = count_ - 1 - depth; i + 1 < count_; ++i) values_[i] = values_[i + 1];
    values_[count_ - 1] = lifted;
  }

  // The top goes below the next two.
  void lower_top() noexcept {
    lift(2);
    lift(2);
  }

  const std::uint8_t* begin_;
  dwarf_reader code_;
  const frame_registers& frame_;
  stack_reader& memory_;
  std::size_t count_ = 0;
  bool failed_ = false;
  std::uint64_t values_[max_values];
};

}  // namespace

bool stack_reader::read_word(std::uintptr_t address, std::uintptr_t& value) noexcept {
  if (address < stack_.begin || address > stack_.end || stack_.end - address < sizeof value) return false;
  if (step_.read_count == frame_step::max_reads) return false;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  step_.reads[step_.read_count++] = {address, value};
  return true;
}

bool evaluate(dwarf_reader expression, const frame_registers& frame, stack_reader& memory,
              const std::uint64_t* start, std::uint64_t& result) noexcept {
  stack_machine machine(expression, frame, memory);
  if (start != nullptr) machine.push(*start);
  return machine.run(result);
}

}  // namespace mallard::unwind
