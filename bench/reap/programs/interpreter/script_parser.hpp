// script_parser: from words to the tree, by recursive descent, and each name to its variable.
//
//     statement    let x = e;   place = e;   e;   return e;   break;   continue;
//                  if e { } else if e { } else { }   while e { }   for x in e { }   for x in e .. e { }
//                  fn name(a, b) { }
//     expression   or, and, == !=, < <= > >=, + -, * / %, - !, call() index[]
//     primary      12 "text" true false nil name [e, e] {e: e} fn (a) { } (e)
//
// A mistake ends the process with its line. The names of one function:
//
//     names of the function around --> names   { a b { c } { d } }     a block's names end with it,
//                                              0 1   2     3           a variable's number is its own
//
// A name that only a function around knows is captured: it becomes a variable here, with a record of which
// one it begins as a copy of. Names live in a region of their own that ends when the function is parsed;
// records of captures in the program's.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/interpreter/script_tree.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

class names {
 public:
  // `around` is null for the program itself and for functions with a name, which know only their own.
  names(region& program, function& f, names* around)
      : program_(program), here_(program), function_(f), around_(around) {}
  names(const names&) = delete;
  names& operator=(const names&) = delete;
  ~names();

  // A new variable of the innermost block.
  std::uint32_t add(std::string_view name);
  // A variable without a name.
  std::uint32_t add_hidden() noexcept { return function_.variables++; }
  [[nodiscard]] std::uint32_t variables() const noexcept { return function_.variables; }

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  // The variable of that name, captured if need be; none if nobody knows it.
  [[nodiscard]] std::uint32_t find(std::string_view name);

  struct known {
    std::string_view name;
    std::uint32_t variable = 0;
    known* older = nullptr;
  };

  // What is known at a block's beginning, for its end.
  [[nodiscard]] known* begin_block() const noexcept { return newest_; }
  void end_block(known* before) noexcept;

 private:
  region& program_;
  region here_;
  function& function_;
  names* around_;
  known* newest_ = nullptr;
  known* captured_ = nullptr;
};

class parser {
 public:
  parser(script& into, std::string_view text) : script_(into), memory_(into.memory()), words_(text) {}

  void parse_all(function& main);

 private:
  // Statements.
  node* statement();
  node* block();
  node* let_statement();
  node* choice();
  node* repetition();
  node* for_statement();
  node* simple_statement();
  void named_function();
  void parameters_and_body(function& f, names* around);

  // Expressions.
  node* expression() { return binary(0); }
  node* binary(int level);
  node* unary();
  node* postfix();
  node* primary();
  node* name_or_call();
  node* string_constant();
  node* list_literal();
  node* dictionary_literal();
  node* closure();
  node* call_of(node* callee, function* called, std::uint32_t line);
  // Expressions up to the closing word, linked by next; `of` gets their number and whether they call.
  node* arguments(node& of, std::string_view closing);

  node* new_node(node_kind kind);

  script& script_;
  region& memory_;
  lexer words_;
  names* names_ = nullptr;
};

}  // namespace mallard::programs
