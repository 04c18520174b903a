#include "programs/compiler/emit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace mallard::programs {

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
