// syntax_tree: one place of a function's syntax tree, with its type; a variable is a load from its address.
//
//     kind       a           b          c       more
//     constant                                  integer
//     address                                   of: a variable, integer bytes behind its beginning
//     load       address
//     store      address     value
//     binary     left        right              op
//     negate, complement, invert: operand
//     both, either: left, right
//     choose     condition   then       else    as an expression
//     call       arguments                      of: the function
//     evaluate   expression
//     branch     condition   then       else    statements, linked by next
//     repeat     condition   body       step    condition and step may be null
//     give_back  expression
//     block      statements
//
// Trees live from the parser to the lowering of their function, in a region of their own.
// Before that they are folded: what is known while compiling is computed, trees that are replaced end.
//
//     2 * 3 + x    -> 6 + x        x + 0, x * 1, x | 0  -> x        &a + 8   -> the address 8 behind a
//     x * 8        -> x << 3       x * 0                -> 0, if x does nothing
//
// Arithmetic is that of the machine: 64 bits, wrapping.
#pragma once

#include <cstdint>

#include "programs/compiler/declarations.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

enum class tree_kind : std::uint8_t {
  constant,
  address,
  load,
  store,
  binary,
  negate,
  complement,
  invert,
  both,
  either,
  choose,
  call,
  evaluate,
  branch,
  repeat,
  give_back,
  leave,
  skip,
  block,
};

enum class operation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  equal,
  unequal,
  less,
  at_most,
  more,
  at_least,
};

struct tree {
  tree_kind kind = tree_kind::constant;
  operation op = operation::add;
  std::uint32_t line = 0;
  const type* is = nullptr;
  std::int64_t integer = 0;
  symbol* of = nullptr;
  tree* a = nullptr;
  tree* b = nullptr;
  tree* c = nullptr;
  tree* next = nullptr;
};

// Ends the blocks of a list of trees and all below them.
void drop_trees(region& r, tree* first) noexcept;

// A list of trees and all below them; what stands in place of the first.
[[nodiscard]] tree* folded(region& r, tree* first);

}  // namespace mallard::programs
