// c_parser: from words to typed trees, a function at a time.
//
//     struct s { int a; char b[8]; };   int g;   int table[100];   int f(int x, struct s* p) { ... }
//     statement    int x = e;   e;   if (e) s else s   while (e) s   for (e; e; e) s   return e;   { }
//     expression   = += -= ..., ?:, || && | ^ & == != < <= > >= << >> + - * / %, - ! ~ * &, f() a[i] .x ->x
//
// As a function's body is parsed, each block has a scope. Symbols of a function, and its trees, are in
// regions that the caller ends. A mistake ends the process with its line.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/compiler/declarations.hpp"
#include "programs/compiler/syntax_tree.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

// One function, as the passes after the parser need it.
struct function {
  symbol* name = nullptr;
  symbol* symbols = nullptr;  // parameters and locals, the last first
  tree* body = nullptr;
};

class parser {
 public:
  parser(region& permanent, std::string_view text);
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;
  ~parser();

  // Goes on to the next function; its symbols and trees are made in the regions. False at the end.
  bool next_function(function& f, region& symbols, region& trees);
  // All globals and functions so far, the last first.
  [[nodiscard]] const symbol* globals() const noexcept { return globals_; }

 private:
  // Declarations.
  void fields_of(type& structure);
  type* begin_of_type();
  [[nodiscard]] bool at_type() const;
  type* end_of_type(type* base);
  void parameters(function& f, scope& names);
  symbol* new_symbol(region& r, std::string_view name, const type* is, storage where);

  // Statements.
  tree* statement();
  tree* block();
  tree* declaration();
  tree* loop();
  tree* condition_in_brackets();

  // Expressions.
  tree* expression();
  tree* conditional();
  tree* binary(int level);
  tree* unary();
  tree* postfix();
  tree* primary();
  tree* call(symbol* called);
  tree* field_of_structure(tree* base, bool by_pointer);

  // Trees.
  tree* new_tree(tree_kind kind, const type* is);
  tree* constant(std::int64_t integer);
  tree* operate(operation op, tree* left, tree* right);
  tree* scaled(tree* index, const type* pointer);
  tree* load(tree* address, const type* is);
  tree* decayed(tree* t);
  tree* address_of(tree* place);
  tree* assign(tree* place, tree* value);

  region& permanent_;
  lexer words_;
  types types_;
  symbol* globals_ = nullptr;
  scope outermost_;
  scope* names_;                  // the innermost
  region* trees_ = nullptr;       // of the function that is parsed
  region* symbols_ = nullptr;     // likewise
  function* function_ = nullptr;  // likewise
};

}  // namespace mallard::programs
