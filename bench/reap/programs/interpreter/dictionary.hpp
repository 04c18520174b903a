// dictionary: values by integers or strings, in an open table of entries.
//
//     slots  [ - | key value | - | key value | key value | - | - | - ]      at most two thirds full
//                  ^ its hash, or the next free place behind it
//
// Keys are never removed. The table doubles; the smaller one ends.
#pragma once

#include <cstdint>

#include "programs/interpreter/value.hpp"

namespace mallard::programs {

struct entry {
  value key;  // nil: a free place
  value held;
};

struct dictionary {
  entry* entries = nullptr;
  std::uint32_t count = 0;
  std::uint32_t room = 0;  // a power of two, or 0
};

// An empty one for so many keys.
[[nodiscard]] value make_dictionary(region& r, std::uint32_t keys);

// The value of a key, null if it is not there.
[[nodiscard]] value* find(const dictionary& d, const value& key) noexcept;

// The value of a key, which is added, copied into the dictionary's region, if it is not there.
[[nodiscard]] value& find_or_add(region& r, dictionary& d, const value& key);

}  // namespace mallard::programs
