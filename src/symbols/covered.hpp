// covered: which of some sorted addresses a part of the debug information is about.
//
//     DIE [low, high) [low, high) ...       addresses  a b c | d e | f
//                                           covered        ^^^^^^^
#pragma once

#include <elfutils/libdw.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mallard::symbols {

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

}  // namespace mallard::symbols
