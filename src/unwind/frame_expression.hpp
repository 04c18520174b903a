// DWARF expressions, as .eh_frame uses them: a stack machine over the frame's registers and its stack.
//
// Used by PLT entries (the CFA depends on pc), by frames that realign the stack (the CFA is itself in
// memory) and by signal trampolines (all registers are in memory). Words are read through a
// stack_reader alone, which bounds and remembers them. Ends after a fixed number of operations, however
// they jump.
#pragma once

#include <cstdint>

#include "unwind/dwarf_reader.hpp"
#include "unwind/frame_rule.hpp"

namespace mallard::unwind {

// Reads words of the stack and notes each in `step`.
class stack_reader {
 public:
  stack_reader(const stack_range& stack, frame_step& step) noexcept : stack_(stack), step_(step) {
    step_.read_count = 0;
  }

  [[nodiscard]] bool read_word(std::uintptr_t address, std::uintptr_t& value) noexcept;

 private:
  const stack_range& stack_;
  frame_step& step_;
};

// `result` is what the machine starts with on its stack, if anything, and what it leaves on top.
[[nodiscard]] bool evaluate(dwarf_reader expression, const frame_registers& frame, stack_reader& memory,
                            const std::uint64_t* start, std::uint64_t& result) noexcept;

}  // namespace mallard::unwind
