#include "programs/compiler/machine_code.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "programs/compiler/register_allocation.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

machine_code::~machine_code() {
  if (!region::frees) return;
  while (first_ != nullptr) remove(first_);
}

machine_step& machine_code::add(machine_kind kind) {
  machine_step* const made = make<machine_step>(here_);
  made->kind = kind;
  (last_ == nullptr ? first_ : last_->next) = made;
  last_ = made;
  return *made;
}

void machine_code::remove(machine_step*& link) noexcept {
  machine_step* const gone = link;
  link = gone->next;
  drop(here_, gone);
}

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

namespace {

bool does_nothing(const machine_step& s) noexcept { return s.kind == machine_kind::move && s.a == s.d; }

bool never_goes_on(const machine_step& s) noexcept {
  return s.kind == machine_kind::jump || s.kind == machine_kind::give_back;
}

// Whether the second does nothing after the first, or can be made a move.
bool second_goes(const machine_step& first, machine_step& second) noexcept {
  if (never_goes_on(first)) return second.kind != machine_kind::label;
  if (first.kind != machine_kind::store_slot || second.kind != machine_kind::load_slot) return false;
  if (first.integer != second.integer) return false;
  if (first.a == second.d) return true;
  second.kind = machine_kind::move;
  second.a = first.a;
  return false;
}

bool first_goes(const machine_step& first, const machine_step& second) noexcept {
  return first.kind == machine_kind::jump && second.kind == machine_kind::label &&
         first.label == second.label;
}

}  // namespace

void simplify(machine_code& all) noexcept {
  bool changed = true;
  while (changed) {
    changed = false;
    for (machine_step** at = &all.first(); *at != nullptr;) {
      machine_step& now = **at;
      if (does_nothing(now) || (now.next != nullptr && first_goes(now, *now.next))) {
        all.remove(*at);
        changed = true;
      } else if (now.next != nullptr && second_goes(now, *now.next)) {
        all.remove(now.next);
        changed = true;
      } else {
        at = &now.next;
      }
    }
  }
}

namespace {

// One line, put together on the stack.
class line {
 public:
  line& put(std::string_view piece) noexcept {
    const std::size_t length = std::min(piece.size(), sizeof characters_ - length_ - 1);
    piece.copy(characters_ + length_, length);
    length_ += length;
    return *this;
  }
  line& put(std::int64_t number) noexcept {
    char digits[24];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
    return put(std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)));
  }
  line& reg(std::uint8_t number) noexcept { return put("r").put(std::int64_t{number}); }
  line& place(std::string_view base, std::int64_t behind) noexcept {
    return put("[").put(base).put(" + ").put(behind).put("]");
  }
  line& place(std::uint8_t base, std::int64_t behind) noexcept {
    return put("[").reg(base).put(" + ").put(behind).put("]");
  }
  void write() noexcept {
    characters_[length_++] = '\n';
    std::fwrite(characters_, 1, length_, stdout);
  }

 private:
  char characters_[256];
  std::size_t length_ = 0;
};

constexpr std::array<std::string_view, 16> operation_names = {"add", "sub", "mul", "div", "rem", "and",
                                                              "or",  "xor", "shl", "shr", "seq", "sne",
                                                              "slt", "sle", "sgt", "sge"};

std::string_view name_of(operation op) { return operation_names[static_cast<std::size_t>(op)]; }

}  // namespace

void emitter::write(const symbol& name, std::uint32_t frame, machine_code& all) {
  line().put(name.name).put(":").write();
  line().put("\tenter ").put(std::int64_t{frame}).write();
  ++functions_;
  for (const machine_step* s = all.first(); s != nullptr; s = s->next) {
    write(*s);
    ++instructions_;
  }
}

void emitter::write_end(const symbol* globals) const {
  for (const symbol* g = globals; g != nullptr; g = g->next)
    if (g->where == storage::global)
      line().put("\t.comm ").put(g->name).put(", ").put(std::int64_t{g->is->size}).write();
  line()
      .put("# ")
      .put(std::int64_t{functions_})
      .put(" functions, ")
      .put(static_cast<std::int64_t>(instructions_))
      .put(" instructions")
      .write();
}

void emitter::write(const machine_step& s) const {
  line out;
  if (s.kind != machine_kind::label) out.put("\t");
  switch (s.kind) {
    case machine_kind::label:
      out.put("L").put(std::int64_t{functions_}).put("_").put(std::int64_t{s.label}).put(":");
      break;
    case machine_kind::jump:
      out.put("jmp L").put(std::int64_t{functions_}).put("_").put(std::int64_t{s.label});
      break;
    case machine_kind::branch:
    case machine_kind::branch_zero:
      out.put(s.kind == machine_kind::branch ? "bnz " : "bz ").reg(s.a).put(", L");
      out.put(std::int64_t{functions_}).put("_").put(std::int64_t{s.label});
      break;
    case machine_kind::move:
      out.put("mov ").reg(s.d).put(", ").reg(s.a);
      break;
    case machine_kind::constant:
      out.put("ldi ").reg(s.d).put(", ").put(s.integer);
      break;
    case machine_kind::binary:
      out.put(name_of(s.op)).put(" ").reg(s.d).put(", ").reg(s.a).put(", ").reg(s.b);
      break;
    case machine_kind::immediate:
      out.put(name_of(s.op)).put(" ").reg(s.d).put(", ").reg(s.a).put(", ").put(s.integer);
      break;
    case machine_kind::load:
      out.put(s.width == 1 ? "ldb " : "ld ").reg(s.d).put(", ").place(s.a, s.integer);
      break;
    case machine_kind::store:
      out.put(s.width == 1 ? "stb " : "st ").place(s.a, s.integer).put(", ").reg(s.b);
      break;
    case machine_kind::frame:
      out.put("lea ").reg(s.d).put(", ").place("fp", s.integer);
      break;
    case machine_kind::global:
      out.put("lea ").reg(s.d).put(", ").place(s.of->name, s.integer);
      break;
    case machine_kind::load_slot:
      out.put("lds ").reg(s.d).put(", ").place("fp", s.integer);
      break;
    case machine_kind::store_slot:
      out.put("sts ").place("fp", s.integer).put(", ").reg(s.a);
      break;
    case machine_kind::argument:
      out.put("arg ").reg(s.a);
      break;
    case machine_kind::call:
      out.put("call ").put(s.of->name);
      break;
    case machine_kind::result:
      out.put("res ").reg(s.d);
      break;
    case machine_kind::parameter:
      out.put("par ").reg(s.d).put(", ").put(s.integer);
      break;
    case machine_kind::give_back:
      out.put("ret ").reg(s.a);
      break;
  }
  out.write();
}

}  // namespace mallard::programs
