// The evaluator's statements.
#include "programs/interpreter/evaluator.hpp"
#include "programs/interpreter/operations.hpp"
#include "programs/memory/objects.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

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
