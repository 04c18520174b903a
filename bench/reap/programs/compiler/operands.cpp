// The parser's trees: types of operands, addresses, conversions.
#include "programs/compiler/parser.hpp"
#include "programs/memory/objects.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

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

}  // namespace mallard::programs
