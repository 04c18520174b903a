// select: from three-address code to the machine's instructions, with the registers that were assigned.
//
//     binary t, a + 5      t in r2, a in the frame:    lds r8, [fp + 16];   add r2, r8, 5
//     binary t, a + b      t in the frame:             add r8, r1, r3;      sts [fp + 24], r8
#pragma once

#include <cstdint>

#include "programs/compiler/code.hpp"
#include "programs/compiler/liveness.hpp"
#include "programs/compiler/machine.hpp"

namespace mallard::programs {

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

}  // namespace mallard::programs
