// operations: what the signs of the language do with values, the functions that it brings, and the text that
// print and str make of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

// The functions that the language brings.
//
//     print(v)      len(v)           str(v)          int(s)           ord(s)      chr(i)
//     keys(d)       has(d, k)        slice(v, i, j)  split(s, by)     join(l, by)
//     push(place, v)                 pop(place)      these two change the list at a place

inline constexpr std::uint32_t no_builtin = ~std::uint32_t{0};
inline constexpr std::uint32_t most_arguments = 3;

[[nodiscard]] std::uint32_t builtin_of(std::string_view name) noexcept;
[[nodiscard]] std::uint32_t arguments_of(std::uint32_t builtin) noexcept;
[[nodiscard]] bool changes_its_first(std::uint32_t builtin) noexcept;

// The result is made in the region; the arguments stay the caller's.
[[nodiscard]] value run_builtin(std::uint32_t builtin, const value* given, region& here, std::uint32_t line);

// What changes its first argument, whose blocks lie in `home`; takes over the second, which lies `here`.
[[nodiscard]] value run_changing(std::uint32_t builtin, value& changed, region& home, const value& given,
                                 region& here, std::uint32_t line);

}  // namespace mallard::programs
