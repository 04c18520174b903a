// operations: what the signs of the language do with values, and the text that print and str make of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "programs/interpreter/script_tree.hpp"
#include "programs/interpreter/values.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

// Integers are of 64 bits and wrap; strings can be added and compared, lists added. The result is made in
// the region.
[[nodiscard]] value operate(operation op, const value& a, const value& b, region& here, std::uint32_t line);

// The element of a list or dictionary, lent; nil for a key that is not there; a character of a string, made.
[[nodiscard]] value element_of(const value& base, const value& at, region& here, std::uint32_t line);

[[nodiscard]] std::size_t position_in(const list& l, const value& at, std::uint32_t line);
[[nodiscard]] std::int64_t length_of(const value& v, std::uint32_t line);
void check_key(const value& key, std::uint32_t line);

// Strings as they are, in lists and dictionaries in quotes. One block of the right length.
[[nodiscard]] text* written(region& r, const value& v);

}  // namespace mallard::programs
