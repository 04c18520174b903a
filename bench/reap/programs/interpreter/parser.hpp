// parser: from words to the tree, by recursive descent.
//
//     statement    let x = e;   place = e;   e;   return e;   break;   continue;
//                  if e { } else if e { } else { }   while e { }   for x in e { }   for x in e .. e { }
//                  fn name(a, b) { }
//     expression   or, and, == !=, < <= > >=, + -, * / %, - !, call() index[]
//     primary      12 "text" true false nil name [e, e] {e: e} fn (a) { } (e)
//
// Each name is resolved to its variable here (names.hpp). A mistake ends the process with its line.
#pragma once

#include <string_view>

#include "programs/interpreter/names.hpp"
#include "programs/interpreter/node.hpp"
#include "programs/interpreter/script.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

class parser {
 public:
  parser(script& into, std::string_view text) : script_(into), memory_(into.memory()), words_(text) {}

  void parse_all(function& main);

 private:
  // Statements, in parser.cpp.
  node* statement();
  node* block();
  node* let_statement();
  node* choice();
  node* repetition();
  node* for_statement();
  node* simple_statement();
  void named_function();
  void parameters_and_body(function& f, names* around);

  // Expressions, in expressions.cpp.
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
