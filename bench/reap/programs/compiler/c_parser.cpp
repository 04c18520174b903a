#include "programs/compiler/c_parser.hpp"

#include <array>

#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

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

tree* parser::new_tree(tree_kind kind, const type* is) {
  tree* const made = make<tree>(*trees_);
  made->kind = kind;
  made->is = is;
  made->line = words_.now().line;
  return made;
}

tree* parser::constant(std::int64_t integer) {
  tree* const made = new_tree(tree_kind::constant, types_.integer());
  made->integer = integer;
  return made;
}

tree* parser::load(tree* address, const type* is) {
  tree* const made = new_tree(tree_kind::load, is);
  made->a = address;
  return made;
}

// An array as a value is the address of its first element.
tree* parser::decayed(tree* t) {
  if (t->is->is != shape::array) {
    if (!t->is->is_scalar() && t->kind != tree_kind::call) fail(t->line, "a structure is no value");
    return t;
  }
  type* const element = t->is->base;
  tree* const address = address_of(t);
  address->is = types_.pointer_to(element);
  return address;
}

// The load, and with it what made it a value, goes.
tree* parser::address_of(tree* place) {
  if (place->kind != tree_kind::load) fail(place->line, "only what is in memory has an address");
  tree* const address = place->a;
  if (address->kind == tree_kind::address) address->of->addressed = true;
  address->is = types_.pointer_to(const_cast<type*>(place->is));
  place->a = nullptr;
  drop(*trees_, place);
  return address;
}

tree* parser::assign(tree* place, tree* value) {
  if (place->kind != tree_kind::load || !place->is->is_scalar())
    fail(place->line, "this cannot be assigned to");
  place->kind = tree_kind::store;
  place->b = decayed(value);
  return place;
}

// An index in bytes.
tree* parser::scaled(tree* index, const type* pointer) {
  tree* const made = new_tree(tree_kind::binary, types_.integer());
  made->op = operation::multiply;
  made->a = index;
  made->b = constant(pointer->base->size);
  return made;
}

tree* parser::operate(operation op, tree* left, tree* right) {
  tree* const made = new_tree(tree_kind::binary, types_.integer());
  made->op = op;
  made->a = left;
  made->b = right;
  const bool steps = op == operation::add || op == operation::subtract;
  if (steps && left->is->is == shape::pointer && right->is->is != shape::pointer) {
    made->b = scaled(right, left->is);
    made->is = left->is;
  }
  return made;
}

tree* parser::field_of_structure(tree* base, bool by_pointer) {
  const std::uint32_t line = words_.now().line;
  const type* of = base->is;
  if (by_pointer && of->is == shape::pointer) of = of->base;
  if (of->is != shape::structure) fail(line, "only structures have fields");
  const std::string_view name = words_.expect_name();
  const field* const found = field_of(*of, name);
  if (found == nullptr) fail(line, "no such field", name);
  tree* const address = by_pointer ? base : address_of(base);
  tree* const made = new_tree(tree_kind::binary, types_.integer());
  made->op = operation::add;
  made->a = address;
  made->b = constant(found->offset);
  return load(made, found->is);
}

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

parser::parser(region& permanent, std::string_view text)
    : permanent_(permanent),
      words_(text),
      types_(permanent),
      outermost_(permanent, nullptr),
      names_(&outermost_) {}

parser::~parser() {
  while (globals_ != nullptr) {
    symbol* const next = globals_->next;
    drop(permanent_, globals_);
    globals_ = next;
  }
}

symbol* parser::new_symbol(region& r, std::string_view name, const type* is, storage where) {
  symbol* const made = make<symbol>(r);
  made->name = name;
  made->is = is;
  made->where = where;
  if (!names_->add(made)) fail(words_.now().line, "declared twice", name);
  symbol*& last = where == storage::global || where == storage::function ? globals_ : function_->symbols;
  made->next = last;
  last = made;
  return made;
}

bool parser::at_type() const {
  return words_.at("int") || words_.at("char") || words_.at("void") || words_.at("struct");
}

type* parser::begin_of_type() {
  type* found = types_.integer();
  if (words_.accept("struct"))
    found = types_.structure(words_.expect_name());
  else if (words_.accept("char"))
    found = types_.character();
  else if (words_.accept("void"))
    found = types_.nothing();
  else
    words_.expect("int");
  while (words_.accept("*")) found = types_.pointer_to(found);
  return found;
}

// What stands behind the name of a variable.
type* parser::end_of_type(type* base) {
  if (!words_.accept("[")) return base;
  const token count = words_.take();
  if (count.kind != token_kind::integer) fail(count.line, "an array needs a size");
  words_.expect("]");
  return types_.array_of(base, static_cast<std::uint32_t>(count.integer));
}

// What stands behind the bracket.
void parser::fields_of(type& structure) {
  while (!words_.accept("}")) {
    type* const base = begin_of_type();
    const std::string_view name = words_.expect_name();
    types_.add_field(structure, name, end_of_type(base));
    words_.expect(";");
  }
  words_.expect(";");
}

void parser::parameters(function& f, scope& names) {
  names_ = &names;
  std::uint32_t count = 0;
  while (!words_.at(")")) {
    type* const is = begin_of_type();
    const token& name = words_.now();
    if (!is->is_scalar()) fail(name.line, "only numbers and pointers are passed", name.text);
    new_symbol(*symbols_, words_.expect_name(), is, storage::parameter)->parameters = count++;
    if (!words_.accept(",")) break;
  }
  words_.expect(")");
  f.name->parameters = count;
}

bool parser::next_function(function& f, region& symbols, region& trees) {
  function_ = &f;
  symbols_ = &symbols;
  trees_ = &trees;
  while (words_.now().kind != token_kind::end) {
    type* const is = begin_of_type();
    if (is->is == shape::structure && words_.accept("{")) {
      fields_of(*is);
      continue;
    }
    const std::string_view name = words_.expect_name();
    if (!words_.accept("(")) {
      new_symbol(permanent_, name, end_of_type(is), storage::global);
      words_.expect(";");
      continue;
    }
    f.name = new_symbol(permanent_, name, is, storage::function);
    scope names(outermost_);
    parameters(f, names);
    f.body = block();
    names_ = &outermost_;
    return true;
  }
  return false;
}

}  // namespace mallard::programs
