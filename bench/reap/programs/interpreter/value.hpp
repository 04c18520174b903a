// value: what a variable of the language holds.
//
//     nil, true, 12        in the value itself
//     "text"               -> text        [length | hash | characters]
//     [1, 2]               -> list        [count, room] -> values
//     {"a": 1}             -> dictionary  [count, room] -> entries, in the order of their hashes
//     fn (x) { ... }       -> closure     [function] -> the variables it has captured
//
// Values are trees: what is stored is copied, so that each block has one owner, and all blocks of a value
// lie in one region. `owned` says that whoever holds the value owns its blocks; else it is lent by a
// variable, an element or a constant and is copied where it is kept. Invariant: an owned value that no
// variable holds lies in the region that the evaluator uses at the time.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/memory/region.hpp"

namespace mallard::programs {

enum class type : std::uint8_t { nil, boolean, integer, string, list, dictionary, closure };

struct text;
struct list;
struct dictionary;
struct closure;

struct value {
  type is = type::nil;
  bool owned = false;
  union {
    std::int64_t integer = 0;
    programs::text* text;
    programs::list* list;
    programs::dictionary* dictionary;
    programs::closure* closure;
  };
};

[[nodiscard]] inline value of_integer(std::int64_t i) noexcept {
  value v;
  v.is = type::integer;
  v.integer = i;
  return v;
}

[[nodiscard]] inline value of_boolean(bool b) noexcept {
  value v;
  v.is = type::boolean;
  v.integer = static_cast<std::int64_t>(b);
  return v;
}

// Whether a value's content is in blocks of its own.
[[nodiscard]] inline bool has_blocks(const value& v) noexcept { return v.is >= type::string; }

// The same value, lent.
[[nodiscard]] inline value lent(value v) noexcept {
  v.owned = false;
  return v;
}

// A copy of all of it in the region, owned.
[[nodiscard]] value copy(region& r, const value& v);

// Ends the blocks of an owned value, which lie in the region; nothing of a lent one.
void drop(region& r, const value& v) noexcept;

// What is stored in `to`: an owned value of the same region as it is, a copy of any other.
[[nodiscard]] inline value keep(region& to, region& from, const value& v) {
  if (!has_blocks(v) || (v.owned && &to == &from)) return v;
  const value kept = copy(to, v);
  drop(from, v);
  return kept;
}

[[nodiscard]] bool is_true(const value& v) noexcept;
[[nodiscard]] bool equal(const value& a, const value& b) noexcept;
[[nodiscard]] std::string_view name_of(type t) noexcept;

}  // namespace mallard::programs
