// What can be assigned to: a variable, or an element of what one holds.
//
//     a[i]["k"] = v      the indices first, then from the variable inwards, so that no call can move a step
#include <array>

#include "programs/interpreter/dictionary.hpp"
#include "programs/interpreter/evaluator.hpp"
#include "programs/interpreter/list.hpp"
#include "programs/interpreter/operations.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

namespace {

constexpr std::size_t most_steps = 8;

value* step_into(value& base, const value& at, region* adding, std::uint32_t line) {
  if (base.is == type::list) return &base.list->items[position_in(*base.list, at, line)];
  if (base.is != type::dictionary)
    fail(line, "only lists and dictionaries have places, not a value of type", name_of(base.is));
  check_key(at, line);
  if (adding != nullptr) return &find_or_add(*adding, *base.dictionary, at);
  value* const found = find(*base.dictionary, at);
  if (found == nullptr) fail(line, "no such key");
  return found;
}

}  // namespace

evaluator::place evaluator::place_of(const node& n, frame& f, bool add) {
  std::array<const node*, most_steps> steps;
  std::size_t count = 0;
  const node* base = &n;
  for (; base->kind == node_kind::index; base = base->a) {
    if (count == most_steps) fail(n.line, "indices nest too deeply");
    steps[count++] = base;
  }
  if (base->kind != node_kind::variable) fail(n.line, "only what a variable holds can change");
  std::array<value, most_steps> indices;
  for (std::size_t i = 0; i < count; ++i) {
    indices[i] = evaluate(*steps[i]->b, f);
    if (n.calls) indices[i] = own(indices[i], f);
  }
  variable& holder = resolved(f.variables[base->first]);
  place found{&holder.held, holder.home};
  for (std::size_t i = count; i-- > 0;) {
    found.at = step_into(*found.at, indices[i], add && i == 0 ? found.home : nullptr, n.line);
    drop(*f.here, indices[i]);
  }
  return found;
}

}  // namespace mallard::programs
