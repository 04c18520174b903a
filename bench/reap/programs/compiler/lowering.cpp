#include "programs/compiler/lowering.hpp"

#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

code::~code() {
  if (!region::frees) return;
  while (first_ != nullptr) {
    instruction* const next = first_->next;
    drop(here_, first_);
    first_ = next;
  }
}

instruction& code::add(code_kind kind) {
  instruction* const made = make<instruction>(here_);
  made->kind = kind;
  *last_ = made;
  last_ = &made->next;
  ++size_;
  return *made;
}

void lowering::lower(const function& f) {
  for (symbol* s = f.symbols; s != nullptr; s = s->next) {
    if (s->is_register()) {
      s->number = out_.new_register();
    } else {
      s->offset = frame_;
      frame_ += (s->is->size + 7) / 8 * 8;
    }
    if (s->where != storage::parameter) continue;
    instruction& arrives = out_.add(code_kind::parameter);
    arrives.target = s->is_register() ? s->number : out_.new_register();
    arrives.a.integer = s->parameters;
    if (s->is_register()) continue;
    const std::uint32_t from = arrives.target;
    instruction& where = out_.add(code_kind::address);
    where.target = out_.new_register();
    where.of = s;
    instruction& kept = out_.add(code_kind::store);
    kept.a.number = where.target;
    kept.b.number = from;
  }
  statements(f.body);
  out_.add(code_kind::give_back);
}

void lowering::statements(const tree* first) {
  for (const tree* t = first; t != nullptr; t = t->next) statement(*t);
}

void lowering::statement(const tree& t) {
  switch (t.kind) {
    case tree_kind::block:
      return statements(t.a);
    case tree_kind::evaluate:
      static_cast<void>(value(*t.a));
      return;
    case tree_kind::branch:
      return branch(t);
    case tree_kind::repeat:
      return repeat(t);
    case tree_kind::give_back: {
      const operand result = t.a == nullptr ? operand{} : value(*t.a);
      out_.add(code_kind::give_back).a = result;
      return;
    }
    case tree_kind::leave:
    case tree_kind::skip:
      if (leave_ == 0) fail(t.line, "there is no loop around this");
      return jump(t.kind == tree_kind::leave ? leave_ : skip_);
    default:
      fail(t.line, "a value is no statement");
  }
}

void lowering::branch(const tree& t) {
  const std::uint32_t other = out_.new_label();
  jump_if(code_kind::branch_zero, value(*t.a), other);
  statements(t.b);
  if (t.c != nullptr) {
    const std::uint32_t end = out_.new_label();
    jump(end);
    label(other);
    statements(t.c);
    label(end);
  } else {
    label(other);
  }
}

void lowering::repeat(const tree& t) {
  const std::uint32_t leave_outside = leave_;
  const std::uint32_t skip_outside = skip_;
  const std::uint32_t begin = out_.new_label();
  leave_ = out_.new_label();
  skip_ = out_.new_label();
  label(begin);
  if (t.a != nullptr) jump_if(code_kind::branch_zero, value(*t.a), leave_);
  statements(t.b);
  label(skip_);
  if (t.c != nullptr) statements(t.c);
  jump(begin);
  label(leave_);
  leave_ = leave_outside;
  skip_ = skip_outside;
}

void lowering::jump_if(code_kind kind, operand a, std::uint32_t l) {
  instruction& made = out_.add(kind);
  made.a = a;
  made.label = l;
}

void lowering::move(std::uint32_t target, operand a) {
  instruction& made = out_.add(code_kind::move);
  made.target = target;
  made.a = a;
}

operand lowering::value(const tree& t) {
  switch (t.kind) {
    case tree_kind::constant:
      return {0, t.integer};
    case tree_kind::address: {
      instruction& made = out_.add(code_kind::address);
      made.of = t.of;
      made.a.integer = t.integer;
      made.target = out_.new_register();
      return {made.target, 0};
    }
    case tree_kind::load:
      return load(t);
    case tree_kind::store:
      return store(t);
    case tree_kind::binary: {
      const operand a = value(*t.a);
      return binary(t.op, a, value(*t.b));
    }
    case tree_kind::negate:
      return binary(operation::subtract, {}, value(*t.a));
    case tree_kind::complement:
      return binary(operation::bit_xor, value(*t.a), {0, -1});
    case tree_kind::invert:
      return binary(operation::equal, value(*t.a), {});
    case tree_kind::both:
    case tree_kind::either:
      return truth(t);
    case tree_kind::choose:
      return choose(t);
    case tree_kind::call:
      return call(t);
    default:
      fail(t.line, "a statement is no value");
  }
}

operand lowering::binary(operation op, operand a, operand b) {
  instruction& made = out_.add(code_kind::binary);
  made.op = op;
  made.a = a;
  made.b = b;
  made.target = out_.new_register();
  return {made.target, 0};
}

operand lowering::place(const tree& address) {
  if (address.kind != tree_kind::binary || address.op != operation::add ||
      address.b->kind != tree_kind::constant)
    return value(address);
  const operand base = value(*address.a);
  return {base.number, base.integer + address.b->integer};
}

operand lowering::load(const tree& t) {
  if (t.a->kind == tree_kind::address && t.a->of->is_register()) return {t.a->of->number, 0};
  const operand at = place(*t.a);
  instruction& made = out_.add(code_kind::load);
  made.a = at;
  made.width = static_cast<std::uint8_t>(t.is->size);
  made.target = out_.new_register();
  return {made.target, 0};
}

operand lowering::store(const tree& t) {
  const operand what = value(*t.b);
  if (t.a->kind == tree_kind::address && t.a->of->is_register()) {
    move(t.a->of->number, what);
    return {t.a->of->number, 0};
  }
  const operand at = place(*t.a);
  instruction& made = out_.add(code_kind::store);
  made.a = at;
  made.b = what;
  made.width = static_cast<std::uint8_t>(t.is->size);
  return what;
}

operand lowering::call(const tree& t) {
  const tree* argument = t.a;
  operand values[8];
  std::uint32_t count = 0;
  for (; argument != nullptr; argument = argument->next) {
    if (count == 8) fail(t.line, "at most eight arguments are passed");
    values[count++] = value(*argument);
  }
  for (std::uint32_t i = 0; i < count; ++i) out_.add(code_kind::argument).a = values[i];
  instruction& made = out_.add(code_kind::call);
  made.of = t.of;
  made.target = out_.new_register();
  return {made.target, 0};
}

operand lowering::choose(const tree& t) {
  const std::uint32_t result = out_.new_register();
  const std::uint32_t other = out_.new_label();
  const std::uint32_t end = out_.new_label();
  jump_if(code_kind::branch_zero, value(*t.a), other);
  move(result, value(*t.b));
  jump(end);
  label(other);
  move(result, value(*t.c));
  label(end);
  return {result, 0};
}

// The second operand is evaluated only where the first does not decide.
operand lowering::truth(const tree& t) {
  const std::uint32_t result = out_.new_register();
  const std::uint32_t end = out_.new_label();
  move(result, binary(operation::unequal, value(*t.a), {}));
  jump_if(t.kind == tree_kind::both ? code_kind::branch_zero : code_kind::branch, {result, 0}, end);
  move(result, binary(operation::unequal, value(*t.b), {}));
  label(end);
  return {result, 0};
}

}  // namespace mallard::programs
