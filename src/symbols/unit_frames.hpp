// unit_frames: functions, files and lines of the addresses of one compilation unit.
//
//     scopes     parse > read           frames    read   file and line from the line table
//     lines      0x28: source.hpp:7               parse  file and line of the call, from read's scope
//
// Costs the walk of the unit's functions and the reading of its line table.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbols/function_name.hpp"
#include "symbols/symbolizer.hpp"
#include "symbols/text_table.hpp"
#include "symbols/unit_scopes.hpp"

namespace mallard::symbols {

// A unit, and what holds its functions: itself, or its split-off part in a .dwo file.
struct compilation_unit {
  Dwarf_Die root{};
  Dwarf_Die functions{};
};

class unit_frames {
 public:
  // `addresses` sorted, all of them the unit's, and kept by the caller.
  unit_frames(const compilation_unit& unit, std::span<const std::uint64_t> addresses, function_name& names,
              text_table& texts);

  // The frames of addresses[index], innermost first. Nothing, or a single frame without a function, if the
  // unit has no function there.
  [[nodiscard]] std::vector<source_frame> of(std::size_t index);

 private:
  [[nodiscard]] source_frame line_of(std::uint64_t address);
  [[nodiscard]] source_frame call_of(Dwarf_Die inlined);
  [[nodiscard]] std::uint32_t text(const char* from);

  compilation_unit unit_;
  std::span<const std::uint64_t> addresses_;
  unit_scopes scopes_;
  Dwarf_Files* files_ = nullptr;
  function_name* names_;
  text_table* texts_;
};

}  // namespace mallard::symbols
