// node: one place of the syntax tree, an expression or a statement.
//
//     kind         a           b         c       first            count
//     list         elements                                       how many      elements, arguments and
//     dictionary   keys, values in turn                           how many      statements are linked by next
//     index        base        index
//     call         callee      arguments                          how many      callee null: `called`
//     builtin                  arguments         which            how many
//     let                      value             variable
//     assign       place       value
//     if           condition   then      else
//     while        condition   body              its variables    end of them
//     for_in       sequence    body              sequence, item   end of its variables
//     for_range    from        body      end     end, item        end of its variables
//     return                   value
//
// Trees live in the region of the program, from the parser to the end.
#pragma once

#include <cstdint>

#include "programs/interpreter/function.hpp"
#include "programs/interpreter/value.hpp"

namespace mallard::programs {

enum class node_kind : std::uint8_t {
  constant,
  variable,
  list,
  dictionary,
  negate,
  invert,
  binary,
  either,
  both,
  index,
  call,
  builtin,
  closure,
  let,
  assign,
  evaluate,
  choose,
  repeat,
  for_in,
  for_range,
  give_back,
  leave,
  skip,
};

enum class operation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  equal,
  unequal,
  less,
  at_most,
  more,
  at_least,
};

struct node {
  node_kind kind = node_kind::constant;
  operation op = operation::add;
  bool calls = false;  // whether something in an expression may change variables
  std::uint32_t line = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  node* a = nullptr;
  node* b = nullptr;
  node* c = nullptr;
  node* next = nullptr;
  value constant;
  function* called = nullptr;
};

// Ends the blocks of a list of nodes and all below them.
void drop_nodes(region& r, node* first) noexcept;

}  // namespace mallard::programs
