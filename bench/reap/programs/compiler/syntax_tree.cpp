#include "programs/compiler/syntax_tree.hpp"

#include <bit>

#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

namespace {

bool is_constant(const tree& t, std::int64_t integer) {
  return t.kind == tree_kind::constant && t.integer == integer;
}

bool computed(operation op, std::int64_t left, std::int64_t right, std::int64_t& result) {
  const auto a = static_cast<std::uint64_t>(left);
  const auto b = static_cast<std::uint64_t>(right);
  const auto wrapped = [&result](std::uint64_t r) {
    result = static_cast<std::int64_t>(r);
    return true;
  };
  const auto truth = [&result](bool r) {
    result = static_cast<std::int64_t>(r);
    return true;
  };
  switch (op) {
    case operation::add:
      return wrapped(a + b);
    case operation::subtract:
      return wrapped(a - b);
    case operation::multiply:
      return wrapped(a * b);
    case operation::divide:
      return right > 0 && wrapped(static_cast<std::uint64_t>(left / right));
    case operation::remainder:
      return right > 0 && wrapped(static_cast<std::uint64_t>(left % right));
    case operation::bit_and:
      return wrapped(a & b);
    case operation::bit_or:
      return wrapped(a | b);
    case operation::bit_xor:
      return wrapped(a ^ b);
    case operation::shift_left:
      return b < 64 && wrapped(a << b);
    case operation::shift_right:
      return b < 64 && wrapped(static_cast<std::uint64_t>(left >> b));
    case operation::equal:
      return truth(left == right);
    case operation::unequal:
      return truth(left != right);
    case operation::less:
      return truth(left < right);
    case operation::at_most:
      return truth(left <= right);
    case operation::more:
      return truth(left > right);
    case operation::at_least:
      return truth(left >= right);
  }
  return false;
}

// Whether nobody would notice if it was not evaluated.
bool does_nothing(const tree& t) {
  switch (t.kind) {
    case tree_kind::constant:
    case tree_kind::address:
      return true;
    case tree_kind::load:
    case tree_kind::negate:
    case tree_kind::complement:
    case tree_kind::invert:
      return does_nothing(*t.a);
    case tree_kind::binary:
      return t.op != operation::divide && t.op != operation::remainder && does_nothing(*t.a) &&
             does_nothing(*t.b);
    default:
      return false;
  }
}

// The tree becomes a constant; what was below it ends.
void become(region& r, tree& t, std::int64_t integer) {
  drop_trees(r, t.a);
  drop_trees(r, t.b);
  t.kind = tree_kind::constant;
  t.integer = integer;
  t.a = t.b = nullptr;
}

// `part`, which is t.a or t.b, stands in place of the tree; the rest ends.
tree* only(region& r, tree* t, tree*& part) {
  tree* const kept = part;
  part = nullptr;
  kept->next = t->next;
  t->next = nullptr;
  drop_trees(r, t);
  return kept;
}

bool commutes(operation op) {
  return op == operation::add || op == operation::multiply || op == operation::bit_and ||
         op == operation::bit_or || op == operation::bit_xor;
}

tree* folded_with_constant(region& r, tree* t) {
  const std::int64_t right = t->b->integer;
  if (t->op == operation::add && t->a->kind == tree_kind::address) {
    t->a->integer += right;
    t->a->is = t->is;
    return only(r, t, t->a);
  }
  const bool adds = t->op == operation::add || t->op == operation::subtract || t->op == operation::bit_or ||
                    t->op == operation::bit_xor || t->op == operation::shift_left ||
                    t->op == operation::shift_right;
  if (right == 0 && adds) return only(r, t, t->a);
  if (t->op != operation::multiply) return t;
  if (right == 1) return only(r, t, t->a);
  if (right == 0 && does_nothing(*t->a)) {
    become(r, *t, 0);
  } else if (right > 1 && std::has_single_bit(static_cast<std::uint64_t>(right))) {
    t->op = operation::shift_left;
    t->b->integer = std::countr_zero(static_cast<std::uint64_t>(right));
  }
  return t;
}

tree* folded_binary(region& r, tree* t) {
  std::int64_t result = 0;
  if (t->a->kind == tree_kind::constant && t->b->kind == tree_kind::constant) {
    if (computed(t->op, t->a->integer, t->b->integer, result)) become(r, *t, result);
    return t;
  }
  if (t->a->kind == tree_kind::constant && commutes(t->op)) std::swap(t->a, t->b);
  return t->b->kind == tree_kind::constant ? folded_with_constant(r, t) : t;
}

tree* folded_one(region& r, tree* t) {
  switch (t->kind) {
    case tree_kind::binary:
      return folded_binary(r, t);
    case tree_kind::negate:
      if (t->a->kind == tree_kind::constant)
        become(r, *t, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(t->a->integer)));
      return t;
    case tree_kind::complement:
      if (t->a->kind == tree_kind::constant) become(r, *t, ~t->a->integer);
      return t;
    case tree_kind::invert:
      if (t->a->kind == tree_kind::constant) become(r, *t, t->a->integer == 0 ? 1 : 0);
      return t;
    case tree_kind::choose:
      if (t->a->kind == tree_kind::constant) return only(r, t, is_constant(*t->a, 0) ? t->c : t->b);
      return t;
    default:
      return t;
  }
}

}  // namespace

tree* folded(region& r, tree* first) {
  tree* result = first;
  for (tree** at = &result; *at != nullptr; at = &(*at)->next) {
    tree* const t = *at;
    t->a = folded(r, t->a);
    t->b = folded(r, t->b);
    t->c = folded(r, t->c);
    *at = folded_one(r, t);
  }
  return result;
}

void drop_trees(region& r, tree* first) noexcept {
  if (!region::frees) return;
  while (first != nullptr) {
    tree* const next = first->next;
    drop_trees(r, first->a);
    drop_trees(r, first->b);
    drop_trees(r, first->c);
    drop(r, first);
    first = next;
  }
}

}  // namespace mallard::programs
