#include "symbols/unit_scopes.hpp"

#include <dwarf.h>

#include <algorithm>

#include "symbols/covered.hpp"

namespace mallard::symbols {

unit_scopes::unit_scopes(Dwarf_Die unit, std::span<const std::uint64_t> addresses)
    : addresses_(addresses), innermost_(addresses.size(), none) {
  walk(unit, thoroughness::functions);
  // Compilers put functions with code at the top or into namespaces; the rest is searched where one is
  // missing.
  if (std::find(innermost_.begin(), innermost_.end(), none) != innermost_.end())
    walk(unit, thoroughness::everything);
}

void unit_scopes::walk(Dwarf_Die unit, thoroughness how) {
  enter(unit, none);
  while (!pending_.empty()) {
    const step at = pending_.back();
    pending_.pop_back();
    step next{{}, at.inside};
    Dwarf_Die die = at.die;
    if (dwarf_siblingof(&die, &next.die) == 0) pending_.push_back(next);
    visit(at, how);
  }
}

void unit_scopes::visit(step at, thoroughness how) {
  const auto none_covered = [&] {
    return visit_covered(at.die, addresses_, [](std::size_t) {}) == coverage::none;
  };
  switch (dwarf_tag(&at.die)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine: {
      const auto number = static_cast<int>(scopes_.size());
      const auto found = visit_covered(at.die, addresses_, [&](std::size_t i) { innermost_[i] = number; });
      if (found == coverage::some) {
        scopes_.push_back({at.die, dwarf_tag(&at.die) == DW_TAG_subprogram ? none : at.inside});
        enter(at.die, number);
      } else if (how == thoroughness::everything) {
        enter(at.die, at.inside);
      }
      break;
    }
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      if (how == thoroughness::everything || !none_covered()) enter(at.die, at.inside);
      break;
    case DW_TAG_namespace:
    case DW_TAG_module:
      enter(at.die, at.inside);
      break;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      if (how == thoroughness::everything) enter(at.die, at.inside);
      break;
    default:
      break;
  }
}

void unit_scopes::enter(Dwarf_Die& die, int inside) {
  step first{{}, inside};
  if (dwarf_child(&die, &first.die) == 0) pending_.push_back(first);
}

}  // namespace mallard::symbols
