#include "programs/interpreter/evaluator.hpp"

#include <array>

#include "programs/interpreter/operations.hpp"
#include "programs/interpreter/values.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

namespace {

// The place of a[i]["k"] is found by its indices first, then from the variable inwards, so that no call can
// move a step.
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

value evaluator::evaluate_call(const node& n, frame& f) {
  if (n.a == nullptr) return call(*n.called, nullptr, n, f);
  value callee = evaluate(*n.a, f);
  if (callee.is != type::closure)
    fail(n.line, "only functions can be called, not a value of type", name_of(callee.is));
  // An element may end while it runs; what a variable holds does not, for functions are passed by value.
  if (n.a->kind != node_kind::variable) callee = own(callee, f);
  const value result = call(*callee.closure->code, callee.closure, n, f);
  drop(*f.here, callee);
  return result;
}

value evaluator::call(const function& code, const closure* captured, const node& n, frame& f) {
  if (n.count != code.parameters) fail(n.line, "wrong number of arguments", code.name);
  if (++depth_ > deepest) fail(n.line, "calls nest too deeply", code.name);
  region callee(*f.here);
  frame inside{make_array<variable>(callee, code.variables), &callee, f.here, {}};
  f.here = &callee;
  variable* parameter = inside.variables;
  for (const node* argument = n.b; argument != nullptr; argument = argument->next)
    pass(*argument, f, *parameter++, callee);
  f.here = inside.caller;
  if (captured != nullptr) {
    variable* outer = captured->captured;
    for (const capture* c = code.captures; c != nullptr; c = c->next)
      inside.variables[c->inner].other = outer++;
  }
  execute(code.body, inside);
  drop_variables(inside, 0, code.variables);
  drop_array(callee, inside.variables, code.variables);
  --depth_;
  return inside.result;
}

void evaluator::pass(const node& argument, frame& f, variable& parameter, region& callee) {
  parameter.home = &callee;
  if (argument.kind == node_kind::variable) {
    variable& outer = resolved(f.variables[argument.first]);
    if (outer.held.is == type::list || outer.held.is == type::dictionary)
      parameter.other = &outer;
    else
      parameter.held = outer.held.is == type::closure ? copy(callee, outer.held) : lent(outer.held);
    return;
  }
  parameter.held = own(evaluate(argument, f), f);
}

flow evaluator::execute(const node* first, frame& f) {
  for (const node* n = first; n != nullptr; n = n->next) {
    flow after = flow::on;
    switch (n->kind) {
      case node_kind::let:
        execute_let(*n, f);
        break;
      case node_kind::assign:
        execute_assign(*n, f);
        break;
      case node_kind::evaluate:
        drop(*f.here, evaluate(*n->b, f));
        break;
      case node_kind::choose:
        after = execute(holds(*n->a, f) ? n->b : n->c, f);
        break;
      case node_kind::repeat:
        after = execute_repeat(*n, f);
        break;
      case node_kind::for_in:
        after = execute_for_in(*n, f);
        break;
      case node_kind::for_range:
        after = execute_for_range(*n, f);
        break;
      case node_kind::give_back:
        if (n->b != nullptr) f.result = keep(*f.caller, *f.here, evaluate(*n->b, f));
        return flow::give_back;
      case node_kind::leave:
        return flow::leave;
      case node_kind::skip:
        return flow::skip;
      default:
        fail(n->line, "a value is no statement");
    }
    if (after != flow::on) return after;
  }
  return flow::on;
}

void evaluator::execute_let(const node& n, frame& f) {
  const value v = own(evaluate(*n.b, f), f);
  f.variables[n.first] = {v, f.here, nullptr};
}

void evaluator::execute_assign(const node& n, frame& f) {
  value v = evaluate(*n.b, f);
  if (n.a->calls) v = own(v, f);
  const place to = place_of(*n.a, f, true);
  const value kept = keep(*to.home, *f.here, v);
  drop(*to.home, *to.at);
  *to.at = kept;
}

// One turn of a loop; `flow::on` where another may follow.
flow evaluator::execute_body(const node& n, std::uint32_t first, frame& f, region& body) {
  const flow after = execute(n.b, f);
  drop_variables(f, first, n.count);
  body.clear();
  return after == flow::skip ? flow::on : after;
}

flow evaluator::execute_repeat(const node& n, frame& f) {
  region* const outside = f.here;
  region body(*outside);
  f.here = &body;
  flow after = flow::on;
  while (after == flow::on && holds(*n.a, f)) after = execute_body(n, n.first, f, body);
  f.here = outside;
  return after == flow::give_back ? after : flow::on;
}

flow evaluator::execute_for_in(const node& n, frame& f) {
  region* const outside = f.here;
  variable& sequence = f.variables[n.first];
  variable& item = f.variables[n.first + 1];
  if (n.a->kind == node_kind::variable)
    sequence = {{}, outside, &resolved(f.variables[n.a->first])};
  else
    sequence = {own(evaluate(*n.a, f), f), outside, nullptr};
  region body(*outside);
  f.here = &body;
  flow after = flow::on;
  for (std::int64_t i = 0; after == flow::on && i < length_of(resolved(sequence).held, n.line); ++i) {
    const value found = element_of(resolved(sequence).held, of_integer(i), body, n.line);
    item = {own(found, f), &body, nullptr};
    after = execute_body(n, n.first + 1, f, body);
  }
  f.here = outside;
  if (sequence.other == nullptr) drop(*outside, sequence.held);
  sequence = {};
  return after == flow::give_back ? after : flow::on;
}

flow evaluator::execute_for_range(const node& n, frame& f) {
  region* const outside = f.here;
  const std::int64_t begin = integer(*n.a, f);
  const std::int64_t end = integer(*n.c, f);
  region body(*outside);
  f.here = &body;
  flow after = flow::on;
  for (std::int64_t i = begin; after == flow::on && i < end; ++i) {
    f.variables[n.first + 1] = {of_integer(i), &body, nullptr};
    after = execute_body(n, n.first + 1, f, body);
  }
  f.here = outside;
  return after == flow::give_back ? after : flow::on;
}

}  // namespace mallard::programs
