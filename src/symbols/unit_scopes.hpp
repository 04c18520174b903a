// unit_scopes: which functions hold some addresses of one compilation unit, inlined ones included.
//
//     parse()            0x10..0x90      scope 0
//       inlined read()   0x20..0x40      scope 1, called by 0       0x28 --> 1 --> 0
//         inlined grow() 0x30..0x38      scope 2, called by 1       0x34 --> 2 --> 1 --> 0
//
// The unit's functions are walked once for all addresses, callers before what is inlined into them, and only
// those are entered that hold one. Costs a visit for each function of the unit.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mallard::symbols {

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

}  // namespace mallard::symbols
