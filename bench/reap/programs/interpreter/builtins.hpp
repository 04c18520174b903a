// builtins: the functions that the language brings.
//
//     print(v)      len(v)           str(v)          int(s)           ord(s)      chr(i)
//     keys(d)       has(d, k)        slice(v, i, j)  split(s, by)     join(l, by)
//     push(place, v)                 pop(place)      these two change the list at a place
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/interpreter/values.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

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
