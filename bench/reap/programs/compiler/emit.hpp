// emitter: writes instructions as the text of an assembler, to standard output.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/compiler/machine.hpp"

namespace mallard::programs {

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
