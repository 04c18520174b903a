// The parser's statements.
#include "programs/compiler/parser.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

tree* parser::block() {
  scope inner(*names_);
  scope* const outer = names_;
  names_ = &inner;
  tree* const made = new_tree(tree_kind::block, nullptr);
  words_.expect("{");
  tree** last = &made->a;
  while (!words_.at("}")) {
    *last = at_type() ? declaration() : statement();
    while (*last != nullptr) last = &(*last)->next;
  }
  words_.expect("}");
  names_ = outer;
  return made;
}

// Null where it has no value to begin with.
tree* parser::declaration() {
  type* const base = begin_of_type();
  const std::string_view name = words_.expect_name();
  symbol* const made = new_symbol(*symbols_, name, end_of_type(base), storage::local);
  tree* first = nullptr;
  if (words_.accept("=")) {
    tree* const place = new_tree(tree_kind::address, types_.integer());
    place->of = made;
    first = new_tree(tree_kind::evaluate, nullptr);
    first->a = assign(load(place, made->is), expression());
  }
  words_.expect(";");
  return first;
}

tree* parser::condition_in_brackets() {
  words_.expect("(");
  tree* const made = decayed(expression());
  words_.expect(")");
  return made;
}

tree* parser::statement() {
  if (words_.at("{")) return block();
  if (words_.at("while") || words_.at("for")) return loop();
  tree* made = nullptr;
  if (words_.accept("if")) {
    made = new_tree(tree_kind::branch, nullptr);
    made->a = condition_in_brackets();
    made->b = statement();
    if (words_.accept("else")) made->c = statement();
    return made;
  }
  if (words_.accept("return")) {
    made = new_tree(tree_kind::give_back, nullptr);
    if (!words_.at(";")) made->a = decayed(expression());
  } else if (words_.accept("break")) {
    made = new_tree(tree_kind::leave, nullptr);
  } else if (words_.accept("continue")) {
    made = new_tree(tree_kind::skip, nullptr);
  } else {
    made = new_tree(tree_kind::evaluate, nullptr);
    made->a = expression();
  }
  words_.expect(";");
  return made;
}

tree* parser::loop() {
  tree* const made = new_tree(tree_kind::repeat, nullptr);
  if (words_.accept("while")) {
    made->a = condition_in_brackets();
    made->b = statement();
    return made;
  }
  words_.expect("for");
  words_.expect("(");
  tree* first = nullptr;
  if (!words_.at(";")) {
    first = new_tree(tree_kind::evaluate, nullptr);
    first->a = expression();
    first->next = made;
  }
  words_.expect(";");
  if (!words_.at(";")) made->a = decayed(expression());
  words_.expect(";");
  if (!words_.at(")")) {
    made->c = new_tree(tree_kind::evaluate, nullptr);
    made->c->a = expression();
  }
  words_.expect(")");
  made->b = statement();
  if (first == nullptr) return made;
  tree* const both = new_tree(tree_kind::block, nullptr);
  both->a = first;
  return both;
}

}  // namespace mallard::programs
