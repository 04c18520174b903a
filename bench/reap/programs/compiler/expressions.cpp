// The parser's expressions, from the loosest operator to the tightest.
#include <array>

#include "programs/compiler/parser.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

namespace {

struct infix {
  std::string_view sign;
  int level;
  tree_kind kind;
  operation op;
};

// All associate to the left.
constexpr std::array<infix, 18> infixes = {{{"||", 0, tree_kind::either, operation::add},
                                            {"&&", 1, tree_kind::both, operation::add},
                                            {"|", 2, tree_kind::binary, operation::bit_or},
                                            {"^", 3, tree_kind::binary, operation::bit_xor},
                                            {"&", 4, tree_kind::binary, operation::bit_and},
                                            {"==", 5, tree_kind::binary, operation::equal},
                                            {"!=", 5, tree_kind::binary, operation::unequal},
                                            {"<", 6, tree_kind::binary, operation::less},
                                            {"<=", 6, tree_kind::binary, operation::at_most},
                                            {">", 6, tree_kind::binary, operation::more},
                                            {">=", 6, tree_kind::binary, operation::at_least},
                                            {"<<", 7, tree_kind::binary, operation::shift_left},
                                            {">>", 7, tree_kind::binary, operation::shift_right},
                                            {"+", 8, tree_kind::binary, operation::add},
                                            {"-", 8, tree_kind::binary, operation::subtract},
                                            {"*", 9, tree_kind::binary, operation::multiply},
                                            {"/", 9, tree_kind::binary, operation::divide},
                                            {"%", 9, tree_kind::binary, operation::remainder}}};
constexpr int tightest = 9;

const infix* infix_at(const token& word) {
  if (word.kind != token_kind::sign) return nullptr;
  for (const infix& i : infixes)
    if (i.sign == word.text) return &i;
  return nullptr;
}

}  // namespace

tree* parser::expression() {
  tree* const place = conditional();
  return words_.accept("=") ? assign(place, expression()) : place;
}

tree* parser::conditional() {
  tree* const condition = binary(0);
  if (!words_.accept("?")) return condition;
  tree* const made = new_tree(tree_kind::choose, types_.integer());
  made->a = decayed(condition);
  made->b = decayed(expression());
  words_.expect(":");
  made->c = decayed(conditional());
  made->is = made->b->is;
  return made;
}

// Climbs by precedence: operands of `level` and tighter.
tree* parser::binary(int level) {
  tree* left = unary();
  for (;;) {
    const infix* const found = infix_at(words_.now());
    if (found == nullptr || found->level < level) return left;
    words_.take();
    tree* const right = binary(found->level + 1);
    if (found->kind == tree_kind::binary) {
      left = operate(found->op, decayed(left), decayed(right));
      continue;
    }
    tree* const made = new_tree(found->kind, types_.integer());
    made->a = decayed(left);
    made->b = decayed(right);
    left = made;
  }
}

tree* parser::unary() {
  const token word = words_.now();
  if (words_.accept("&")) return address_of(unary());
  if (words_.accept("*")) {
    tree* const address = decayed(unary());
    if (address->is->is != shape::pointer) fail(word.line, "only pointers point to something");
    return load(address, address->is->base);
  }
  tree_kind kind = tree_kind::negate;
  if (words_.at("~"))
    kind = tree_kind::complement;
  else if (words_.at("!"))
    kind = tree_kind::invert;
  else if (!words_.at("-"))
    return postfix();
  words_.take();
  tree* const made = new_tree(kind, types_.integer());
  made->a = decayed(unary());
  return made;
}

tree* parser::postfix() {
  tree* made = primary();
  for (;;) {
    const std::uint32_t line = words_.now().line;
    if (words_.accept("[")) {
      tree* const base = decayed(made);
      if (base->is->is != shape::pointer) fail(line, "only arrays and pointers have elements");
      const type* const element = base->is->base;
      made = load(operate(operation::add, base, decayed(expression())), element);
      words_.expect("]");
    } else if (words_.accept(".")) {
      made = field_of_structure(made, false);
    } else if (words_.accept("->")) {
      made = field_of_structure(decayed(made), true);
    } else {
      return made;
    }
  }
}

tree* parser::primary() {
  const token word = words_.take();
  if (word.is("(")) {
    tree* const inside = expression();
    words_.expect(")");
    return inside;
  }
  if (word.kind == token_kind::integer) return constant(word.integer);
  if (word.kind != token_kind::name) fail(word.line, "no value begins so", word.text);
  symbol* const found = names_->find(word.text);
  if (found == nullptr) fail(word.line, "nobody has declared", word.text);
  if (found->where == storage::function) return call(found);
  tree* const address = new_tree(tree_kind::address, types_.integer());
  address->of = found;
  return load(address, found->is);
}

tree* parser::call(symbol* called) {
  tree* const made = new_tree(tree_kind::call, called->is);
  made->of = called;
  words_.expect("(");
  tree** last = &made->a;
  std::uint32_t count = 0;
  while (!words_.at(")")) {
    *last = decayed(expression());
    last = &(*last)->next;
    ++count;
    if (!words_.accept(",")) break;
  }
  words_.expect(")");
  if (called != function_->name && count != called->parameters)
    fail(made->line, "wrong number of arguments", called->name);
  return made;
}

}  // namespace mallard::programs
