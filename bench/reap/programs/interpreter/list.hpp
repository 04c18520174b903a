// list: values one after the other, in an array that doubles.
#pragma once

#include <cstdint>

#include "programs/interpreter/value.hpp"

namespace mallard::programs {

struct list {
  value* items = nullptr;
  std::uint32_t count = 0;
  std::uint32_t room = 0;
};

// An empty list with room for so many values.
[[nodiscard]] value make_list(region& r, std::uint32_t room);

// `v` is owned and lies in the list's region. The array that became too small ends.
void append(region& r, list& l, const value& v);

}  // namespace mallard::programs
