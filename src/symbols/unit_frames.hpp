// unit_frames: functions, files and lines of the addresses of one compilation unit.
//
//     scopes     parse > read           frames    read   file and line from the line table
//     lines      0x28: source.hpp:7               parse  file and line of the call, from read's scope
//
// The scopes are the functions that hold some of the addresses, inlined ones included:
//
//     parse()            0x10..0x90      scope 0
//       inlined read()   0x20..0x40      scope 1, called by 0       0x28 --> 1 --> 0
//         inlined grow() 0x30..0x38      scope 2, called by 1       0x34 --> 2 --> 1 --> 0
//
// The unit's functions are walked once for all addresses, callers before what is inlined into them, and only
// those are entered that hold one. Costs a visit to each function of the unit and the reading of its line
// table.
#pragma once

#include <elfutils/libdw.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbols/function_name.hpp"
#include "symbols/symbolizer.hpp"

namespace mallard::symbols {

// Texts by number, each of them once. The first is the empty one.
class text_table {
 public:
  text_table() { number({}); }

  std::uint32_t number(const std::string& text) {
    const auto [at, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

// Which of some sorted addresses a part of the debug information is about.
//
//     DIE [low, high) [low, high) ...       addresses  a b c | d e | f
//                                           covered        ^^^^^^^
enum class coverage { unknown, none, some };  // unknown: the DIE has no addresses

// Calls visit(index) for each address that the ranges of `die` hold. Cost: two searches a range.
template <class Visit>
coverage visit_covered(Dwarf_Die& die, std::span<const std::uint64_t> addresses, Visit visit) {
  coverage found = coverage::unknown;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t next = 0;
  while ((next = dwarf_ranges(&die, next, &base, &begin, &end)) > 0) {
    if (found == coverage::unknown) found = coverage::none;
    const auto first = std::lower_bound(addresses.begin(), addresses.end(), begin);
    for (auto at = first; at != addresses.end() && *at < end; ++at) {
      found = coverage::some;
      visit(static_cast<std::size_t>(at - addresses.begin()));
    }
  }
  return found;
}

// Which functions hold the addresses of one compilation unit.
class unit_scopes {
 public:
  static constexpr int none = -1;

  struct scope {
    Dwarf_Die function;  // a subprogram, or an inlined instance of one
    int caller;          // the scope that it is inlined into; none: a function of its own
  };

  // `addresses` sorted, all of them the unit's.
  unit_scopes(Dwarf_Die unit, std::span<const std::uint64_t> addresses);

  // Of addresses[index]: a number for at(), or none.
  [[nodiscard]] int innermost(std::size_t index) const noexcept { return innermost_[index]; }
  [[nodiscard]] const scope& at(int number) const noexcept {
    return scopes_[static_cast<std::size_t>(number)];
  }

 private:
  struct step {
    Dwarf_Die die;
    int inside;  // the scope that it is part of
  };
  enum class thoroughness { functions, everything };

  void walk(Dwarf_Die unit, thoroughness how);
  void visit(step at, thoroughness how);
  void enter(Dwarf_Die& die, int inside);

  std::span<const std::uint64_t> addresses_;
  std::vector<int> innermost_;
  std::vector<scope> scopes_;
  std::vector<step> pending_;
};

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
