// machine_code: instructions of the machine on its registers, from selection until their text is written.
//
//     r0 to r7 are assigned; r8 and r9 are for what lies in the frame and for constants
//
// A selection makes them of three-address code, with the registers that were assigned:
//
//     binary t, a + 5      t in r2, a in the frame:    lds r8, [fp + 16];   add r2, r8, 5
//     binary t, a + b      t in the frame:             add r8, r1, r3;      sts [fp + 24], r8
//
// simplify looks at two at a time and takes out what does nothing, until nothing more goes:
//
//     mov r1, r1                          -> nothing
//     jmp L1; L1:                         -> L1:
//     ret r1; add ...                     -> ret r1       nobody comes there before the next label
//     sts [fp + 8], r8; lds r8, [fp + 8]  -> sts ...      and mov r9, r8 where the registers differ
//
// An emitter writes them as the text of an assembler, to standard output. The list has a region of its own.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/compiler/lowering.hpp"
#include "programs/compiler/register_allocation.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

enum class machine_kind : std::uint8_t {
  label,        // label:
  jump,         // jmp label
  branch,       // bnz a, label
  branch_zero,  // bz a, label
  move,         // mov d, a
  constant,     // ldi d, integer
  binary,       // add d, a, b
  immediate,    // add d, a, integer
  load,         // ld d, [a + integer]
  store,        // st [a + integer], b
  frame,        // lea d, [fp + integer]
  global,       // lea d, name + integer
  load_slot,    // lds d, [fp + integer]
  store_slot,   // sts [fp + integer], a
  argument,     // arg a
  call,         // call name
  result,       // res d
  parameter,    // par d, integer
  give_back,    // ret a
};

struct machine_step {
  machine_kind kind = machine_kind::label;
  operation op = operation::add;
  std::uint8_t width = 8;
  std::uint8_t d = 0;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint32_t label = 0;
  std::int64_t integer = 0;
  const symbol* of = nullptr;
  machine_step* next = nullptr;
};

class machine_code {
 public:
  explicit machine_code(region& around) : here_(around) {}
  machine_code(const machine_code&) = delete;
  machine_code& operator=(const machine_code&) = delete;
  ~machine_code();

  machine_step& add(machine_kind kind);
  // Takes the step out that a link leads to, and ends it.
  void remove(machine_step*& link) noexcept;
  [[nodiscard]] machine_step*& first() noexcept { return first_; }

 private:
  region here_;
  machine_step* first_ = nullptr;
  machine_step* last_ = nullptr;
};

class selection {
 public:
  // Slots of the frame begin at `slots`, in bytes.
  selection(const liveness& homes, std::uint32_t slots, machine_code& out)
      : homes_(homes), slots_(slots), out_(out) {}

  void select(const code& all);

 private:
  void step(const instruction& i);
  void binary(const instruction& i);
  void call(const instruction& i);

  // The register that holds an operand, `spare` where it has none of its own.
  std::uint8_t read(operand o, std::uint8_t spare);
  // The register to write a result to, and what brings it where it belongs.
  std::uint8_t target(const instruction& i) const;
  void written(const instruction& i);
  [[nodiscard]] std::int64_t slot(std::int32_t home) const { return slots_ + 8 * (-1 - std::int64_t{home}); }

  const liveness& homes_;
  std::int64_t slots_;
  machine_code& out_;
};

void simplify(machine_code& all) noexcept;

class emitter {
 public:
  // A function: its name, the size of its frame in bytes, its instructions.
  void write(const symbol& name, std::uint32_t frame, machine_code& all);
  // Room for the variables among the symbols, and a last line: how much was written.
  void write_end(const symbol* globals) const;

 private:
  void write(const machine_step& s) const;

  std::uint32_t functions_ = 0;
  std::uint64_t instructions_ = 0;
};

}  // namespace mallard::programs
