// script_tree: a parsed program: its functions, their syntax trees, and the region that these live in.
//
// A node is one place of a tree, an expression or a statement:
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
// A closure is a function with the variables it has captured. Trees live from the parser to the end.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/interpreter/values.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

struct node;

// A variable of a closure and the one around it that it begins as a copy of.
struct capture {
  std::uint32_t outer = 0;
  std::uint32_t inner = 0;
  capture* next = nullptr;
};

struct function {
  std::string_view name;
  std::uint32_t line = 0;
  std::uint32_t parameters = 0;
  std::uint32_t variables = 0;  // parameters first
  std::uint32_t capture_count = 0;
  capture* captures = nullptr;
  node* body = nullptr;  // null: called, and not defined so far
  function* next = nullptr;
};

// A variable: its value and the region where that lies, or another variable that it refers to.
struct variable {
  value held;
  region* home = nullptr;
  variable* other = nullptr;
};

[[nodiscard]] inline variable& resolved(variable& v) noexcept { return v.other == nullptr ? v : *v.other; }

struct closure {
  const function* code = nullptr;
  variable* captured = nullptr;  // in the order of code->captures
};

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

class script {
 public:
  // Parses the whole text; a mistake ends the process with its line.
  script(region& around, std::string_view text);
  script(const script&) = delete;
  script& operator=(const script&) = delete;
  ~script();

  // What stands outside of functions.
  [[nodiscard]] const function& main() const noexcept { return *main_; }
  [[nodiscard]] region& memory() noexcept { return memory_; }

  // The function of that name; made, without a body, if it is not there.
  [[nodiscard]] function& named(std::string_view name, std::uint32_t line);
  // A function without a name.
  [[nodiscard]] function& add(std::string_view name, std::uint32_t line);

 private:
  region memory_;
  function* functions_ = nullptr;
  function* main_ = nullptr;
};

}  // namespace mallard::programs
