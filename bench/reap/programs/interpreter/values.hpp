// values: what a variable of the language holds.
//
//     nil, true, 12        in the value itself
//     "text"               -> text        [length | characters], immutable
//     [1, 2]               -> list        [count, room] -> values, an array that doubles
//     {"a": 1}             -> dictionary  [count, room] -> entries, an open table by integers or strings
//     fn (x) { ... }       -> closure     [function] -> the variables it has captured (script_tree.hpp)
//
// Values are trees: what is stored is copied, so that each block has one owner, and all blocks of a value
// lie in one region. `owned` says that the holder of the value owns its blocks; else it is lent by a
// variable, an element or a constant and is copied where it is kept. Invariant: an owned value that no
// variable holds lies in the region that the evaluator uses at the time.
//
//     slots  [ - | key value | - | key value | key value | - | - | - ]      at most two thirds full
//                  ^ its hash, or the next free place behind it
//
// Keys of a dictionary are never removed. Tables and arrays double; the smaller one ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "programs/memory/region_kinds.hpp"

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

struct text {
  std::uint32_t length = 0;

  [[nodiscard]] char* characters() noexcept { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), length};
  }
};

// Of `length` characters, for the caller to write.
[[nodiscard]] inline text* make_text(region& r, std::size_t length) {
  text* const made = make_tailed<text>(r, length);
  made->length = static_cast<std::uint32_t>(length);
  return made;
}

[[nodiscard]] inline text* make_text(region& r, std::string_view characters) {
  text* const made = make_text(r, characters.size());
  if (!characters.empty()) std::memcpy(made->characters(), characters.data(), characters.size());
  return made;
}

[[nodiscard]] inline value own_text(text* t) noexcept {
  value v;
  v.is = type::string;
  v.owned = true;
  v.text = t;
  return v;
}

[[nodiscard]] inline value own_text(region& r, std::string_view characters) {
  return own_text(make_text(r, characters));
}

struct list {
  value* items = nullptr;
  std::uint32_t count = 0;
  std::uint32_t room = 0;
};

// An empty list with room for this many values.
[[nodiscard]] value make_list(region& r, std::uint32_t room);

// `v` is owned and lies in the list's region. The array that became too small ends.
void append(region& r, list& l, const value& v);

struct entry {
  value key;  // nil: a free place
  value held;
};

struct dictionary {
  entry* entries = nullptr;
  std::uint32_t count = 0;
  std::uint32_t room = 0;  // a power of two, or 0
};

// An empty one for this many keys.
[[nodiscard]] value make_dictionary(region& r, std::uint32_t keys);

// The value of a key, null if it is not there.
[[nodiscard]] value* find(const dictionary& d, const value& key) noexcept;

// The value of a key, which is added, copied into the dictionary's region, if it is not there.
[[nodiscard]] value& find_or_add(region& r, dictionary& d, const value& key);

}  // namespace mallard::programs
