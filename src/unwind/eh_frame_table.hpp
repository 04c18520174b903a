// eh_frame_table: which function an address is in, and the two programs that say how its frames look.
//
//     .eh_frame_hdr   sorted (function, FDE) pairs:  binary search
//     .eh_frame       FDE: function's range, program  -->  CIE: alignments, initial program, signal?
//
// The loader gives the table of a loaded module, without a lock. The table is bounded by the loaded segment
// that it is in; where the program headers are not at the front of the module, by the module. Safe in a
// signal handler, allocates nothing.
//
// Works on any bytes in memory, the process's own or a copy, and reads nothing outside [begin, end).
// A table without the sorted pairs has no functions. Costs one probe for each doubling of their number.
#pragma once

#include <cstdint>

#include "unwind/dwarf_reader.hpp"

namespace mallard::unwind {

struct eh_frame_table {
  const std::uint8_t* header;  // .eh_frame_hdr, inside [begin, end)
  const std::uint8_t* begin;
  const std::uint8_t* end;
};

struct frame_description {
  std::uintptr_t function_begin;
  std::uintptr_t function_end;
  std::uint64_t code_alignment;
  std::uint64_t data_alignment;  // signed, modulo 2^64
  dwarf_reader initial_program;  // of the CIE
  dwarf_reader program;          // of the FDE
  const std::uint8_t* header;
  std::uint8_t encoding;  // of pointers in the program
  bool is_signal_frame;
};

// The table of the module that holds `pc`; false if the address is in no module, or in one without
// .eh_frame_hdr.
[[nodiscard]] bool find_table(std::uintptr_t pc, eh_frame_table& out) noexcept;

[[nodiscard]] bool find_description(const eh_frame_table& table, std::uintptr_t pc,
                                    frame_description& out) noexcept;

}  // namespace mallard::unwind
