// frame_row: where a frame's caller is found, at one pc; the outcome of running the two programs.
//
//     CFA      the caller's stack pointer at its call: a register plus an offset, or an expression
//     sp bp pc the caller's, each at a place computed from the CFA, by an expression, or as it was
//
// Programs run up to the row of the pc and no further. Registers that a walk does not need are decoded
// and forgotten. Costs a few ns an instruction; ends with the bytes, whatever they are.
#pragma once

#include <cstdint>

#include "unwind/dwarf_reader.hpp"
#include "unwind/eh_frame_table.hpp"

namespace mallard::unwind {

enum class value_of : std::uint8_t {
  unchanged,         // the frame's own
  undefined,         // lost; of the pc: there is no caller
  memory_at_cfa,     // the word at CFA + offset
  cfa_plus,          // CFA + offset
  memory_at_result,  // the word at the address an expression tells
  result,            // what an expression tells
  other_register,    // in one that is not followed
};

struct register_rule {
  value_of how = value_of::unchanged;
  std::uint64_t offset = 0;  // signed, modulo 2^64
  dwarf_reader expression{};
};

// Of a register that a function keeps for its caller; where only an expression tells, `offset` is nothing.
struct kept_rule {
  value_of how = value_of::unchanged;
  std::uint64_t offset = 0;  // signed, modulo 2^64
};

enum class cfa_from : std::uint8_t { nothing, sp, bp, other_register, expression };

struct frame_row {
  cfa_from cfa = cfa_from::nothing;
  std::uint64_t cfa_offset = 0;  // signed, modulo 2^64
  dwarf_reader cfa_expression{};
  register_rule sp{value_of::cfa_plus};
  register_rule bp{};
  register_rule pc{};
  kept_rule kept[kept_registers]{};
};

// The row that holds at `pc`, which is inside the function; false if the programs make no sense.
[[nodiscard]] bool find_row(const frame_description& function, std::uintptr_t pc, frame_row& out) noexcept;

}  // namespace mallard::unwind
