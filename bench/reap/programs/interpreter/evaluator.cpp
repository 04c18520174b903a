// The evaluator's expressions.
#include "programs/interpreter/evaluator.hpp"

#include "programs/interpreter/builtins.hpp"
#include "programs/interpreter/dictionary.hpp"
#include "programs/interpreter/list.hpp"
#include "programs/interpreter/operations.hpp"
#include "programs/interpreter/text_value.hpp"
#include "programs/memory/objects.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

void evaluator::run(const function& main, region& r) {
  frame f{make_array<variable>(r, main.variables), &r, &r, {}};
  execute(main.body, f);
  drop(r, f.result);
  drop_variables(f, 0, main.variables);
  drop_array(r, f.variables, main.variables);
}

value evaluator::evaluate(const node& n, frame& f) {
  switch (n.kind) {
    case node_kind::constant:
      return lent(n.constant);
    case node_kind::variable:
      return lent(resolved(f.variables[n.first]).held);
    case node_kind::list:
      return evaluate_list(n, f);
    case node_kind::dictionary:
      return evaluate_dictionary(n, f);
    case node_kind::negate:
      return of_integer(-integer(*n.a, f));
    case node_kind::invert:
      return of_boolean(!holds(*n.a, f));
    case node_kind::binary:
      return evaluate_binary(n, f);
    case node_kind::either:
      return of_boolean(holds(*n.a, f) || holds(*n.b, f));
    case node_kind::both:
      return of_boolean(holds(*n.a, f) && holds(*n.b, f));
    case node_kind::index:
      return evaluate_index(n, f);
    case node_kind::call:
      return evaluate_call(n, f);
    case node_kind::builtin:
      return evaluate_builtin(n, f);
    case node_kind::closure:
      return evaluate_closure(n, f);
    default:
      fail(n.line, "a statement is no value");
  }
}

bool evaluator::holds(const node& n, frame& f) {
  const value v = evaluate(n, f);
  const bool holds = is_true(v);
  drop(*f.here, v);
  return holds;
}

std::int64_t evaluator::integer(const node& n, frame& f) {
  const value v = evaluate(n, f);
  if (v.is != type::integer) fail(n.line, "an integer is wanted here, not a value of type", name_of(v.is));
  return v.integer;
}

value evaluator::evaluate_list(const node& n, frame& f) {
  const value made = make_list(*f.here, n.count);
  for (const node* item = n.a; item != nullptr; item = item->next)
    made.list->items[made.list->count++] = own(evaluate(*item, f), f);
  return made;
}

value evaluator::evaluate_dictionary(const node& n, frame& f) {
  const value made = make_dictionary(*f.here, n.count);
  for (const node* key = n.a; key != nullptr; key = key->next->next) {
    const value held = own(evaluate(*key->next, f), f);
    const value name = evaluate(*key, f);
    check_key(name, key->line);
    value& into = find_or_add(*f.here, *made.dictionary, name);
    drop(*f.here, into);
    into = held;
    drop(*f.here, name);
  }
  return made;
}

value evaluator::evaluate_binary(const node& n, frame& f) {
  value a = evaluate(*n.a, f);
  if (n.b->calls) a = own(a, f);
  const value b = evaluate(*n.b, f);
  const value result = operate(n.op, a, b, *f.here, n.line);
  drop(*f.here, a);
  drop(*f.here, b);
  return result;
}

value evaluator::evaluate_index(const node& n, frame& f) {
  value base = evaluate(*n.a, f);
  if (n.b->calls) base = own(base, f);
  const value at = evaluate(*n.b, f);
  value found = element_of(base, at, *f.here, n.line);
  if (base.owned && !found.owned) found = own(found, f);
  drop(*f.here, at);
  drop(*f.here, base);
  return found;
}

value evaluator::evaluate_builtin(const node& n, frame& f) {
  value given[most_arguments];
  std::uint32_t count = 0;
  const node* argument = n.b;
  if (changes_its_first(n.first)) argument = argument->next;
  for (; argument != nullptr; argument = argument->next) {
    value& v = given[count++];
    v = evaluate(*argument, f);
    if (n.calls) v = own(v, f);
  }
  if (changes_its_first(n.first)) {
    const place changed = place_of(*n.b, f, false);
    return run_changing(n.first, *changed.at, *changed.home, given[0], *f.here, n.line);
  }
  const value result = run_builtin(n.first, given, *f.here, n.line);
  for (std::uint32_t i = 0; i < count; ++i) drop(*f.here, given[i]);
  return result;
}

value evaluator::evaluate_closure(const node& n, frame& f) {
  value made;
  made.is = type::closure;
  made.owned = true;
  made.closure =
      make<closure>(*f.here, closure{n.called, make_array<variable>(*f.here, n.called->capture_count)});
  variable* into = made.closure->captured;
  for (const capture* c = n.called->captures; c != nullptr; c = c->next, ++into)
    *into = {copy(*f.here, resolved(f.variables[c->outer]).held), f.here, nullptr};
  return made;
}

}  // namespace mallard::programs
