// machine: a function as instructions of the machine, on its registers.
//
//     r0 to r7 are assigned; r8 and r9 are for what lies in the frame and for constants
//
// A list in a region of its own, from selection until its text is written.
#pragma once

#include <cstdint>

#include "programs/compiler/code.hpp"
#include "programs/memory/region.hpp"

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

}  // namespace mallard::programs
