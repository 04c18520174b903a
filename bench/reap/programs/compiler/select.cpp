#include "programs/compiler/select.hpp"

#include "programs/compiler/registers.hpp"

namespace mallard::programs {

namespace {

constexpr std::uint8_t first_spare = machine_registers;
constexpr std::uint8_t second_spare = machine_registers + 1;

machine_kind kind_of(code_kind kind) {
  if (kind == code_kind::label) return machine_kind::label;
  if (kind == code_kind::jump) return machine_kind::jump;
  return kind == code_kind::branch ? machine_kind::branch : machine_kind::branch_zero;
}

}  // namespace

void selection::select(const code& all) {
  for (const instruction* i = all.first(); i != nullptr; i = i->next) step(*i);
}

std::uint8_t selection::read(operand o, std::uint8_t spare) {
  if (o.number == 0) {
    machine_step& made = out_.add(machine_kind::constant);
    made.d = spare;
    made.integer = o.integer;
    return spare;
  }
  const std::int32_t home = homes_.of(o.number).home;
  if (home >= 0) return static_cast<std::uint8_t>(home);
  machine_step& made = out_.add(machine_kind::load_slot);
  made.d = spare;
  made.integer = slot(home);
  return spare;
}

std::uint8_t selection::target(const instruction& i) const {
  const std::int32_t home = homes_.of(i.target).home;
  return home >= 0 ? static_cast<std::uint8_t>(home) : first_spare;
}

void selection::written(const instruction& i) {
  const std::int32_t home = homes_.of(i.target).home;
  if (home >= 0) return;
  machine_step& made = out_.add(machine_kind::store_slot);
  made.a = first_spare;
  made.integer = slot(home);
}

void selection::binary(const instruction& i) {
  const std::uint8_t a = read(i.a, first_spare);
  const bool immediate = i.b.number == 0;
  const std::uint8_t b = immediate ? std::uint8_t{0} : read(i.b, second_spare);
  machine_step& made = out_.add(immediate ? machine_kind::immediate : machine_kind::binary);
  made.op = i.op;
  made.a = a;
  made.b = b;
  made.integer = i.b.integer;
  made.d = target(i);
  written(i);
}

void selection::call(const instruction& i) {
  out_.add(machine_kind::call).of = i.of;
  out_.add(machine_kind::result).d = target(i);
  written(i);
}

void selection::step(const instruction& i) {
  switch (i.kind) {
    case code_kind::label:
    case code_kind::jump:
      out_.add(kind_of(i.kind)).label = i.label;
      return;
    case code_kind::branch:
    case code_kind::branch_zero: {
      const std::uint8_t a = read(i.a, first_spare);
      machine_step& made = out_.add(kind_of(i.kind));
      made.a = a;
      made.label = i.label;
      return;
    }
    case code_kind::move:
      if (i.a.number == 0) {
        machine_step& made = out_.add(machine_kind::constant);
        made.d = target(i);
        made.integer = i.a.integer;
      } else {
        const std::uint8_t a = read(i.a, first_spare);
        machine_step& made = out_.add(machine_kind::move);
        made.a = a;
        made.d = target(i);
      }
      return written(i);
    case code_kind::binary:
      return binary(i);
    case code_kind::load:
    case code_kind::store: {
      const std::int64_t behind = i.a.number == 0 ? 0 : i.a.integer;
      const std::uint8_t a = read(i.a, first_spare);
      const bool loads = i.kind == code_kind::load;
      const std::uint8_t b = loads ? std::uint8_t{0} : read(i.b, second_spare);
      machine_step& made = out_.add(loads ? machine_kind::load : machine_kind::store);
      made.width = i.width;
      made.integer = behind;
      made.a = a;
      made.b = b;
      if (!loads) return;
      made.d = target(i);
      return written(i);
    }
    case code_kind::address: {
      const bool global = i.of->where == storage::global;
      machine_step& made = out_.add(global ? machine_kind::global : machine_kind::frame);
      made.of = i.of;
      made.integer = i.a.integer + (global ? 0 : i.of->offset);
      made.d = target(i);
      return written(i);
    }
    case code_kind::argument:
    case code_kind::give_back: {
      const std::uint8_t a = read(i.a, first_spare);
      out_.add(i.kind == code_kind::argument ? machine_kind::argument : machine_kind::give_back).a = a;
      return;
    }
    case code_kind::call:
      return call(i);
    case code_kind::parameter: {
      machine_step& made = out_.add(machine_kind::parameter);
      made.integer = i.a.integer;
      made.d = target(i);
      return written(i);
    }
  }
}

}  // namespace mallard::programs
