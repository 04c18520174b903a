// The evaluator's calls.
#include "programs/interpreter/evaluator.hpp"
#include "programs/memory/objects.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

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

}  // namespace mallard::programs
