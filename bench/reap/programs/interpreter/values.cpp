#include "programs/interpreter/values.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "programs/interpreter/script_tree.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

namespace {

value copy_of(region& r, const list& l) {
  const value made = make_list(r, l.count);
  for (std::uint32_t i = 0; i < l.count; ++i) made.list->items[i] = copy(r, l.items[i]);
  made.list->count = l.count;
  return made;
}

value copy_of(region& r, const dictionary& d) {
  const value made = make_dictionary(r, 0);
  made.dictionary->entries = make_array<entry>(r, d.room);
  made.dictionary->count = d.count;
  made.dictionary->room = d.room;
  for (std::uint32_t i = 0; i < d.room; ++i)
    if (d.entries[i].key.is != type::nil)
      made.dictionary->entries[i] = {copy(r, d.entries[i].key), copy(r, d.entries[i].held)};
  return made;
}

value copy_of(region& r, const closure& c) {
  value made;
  made.is = type::closure;
  made.owned = true;
  made.closure = make<closure>(r, closure{c.code, make_array<variable>(r, c.code->capture_count)});
  for (std::uint32_t i = 0; i < c.code->capture_count; ++i)
    made.closure->captured[i] = {copy(r, c.captured[i].held), &r, nullptr};
  return made;
}

bool equal_lists(const list& a, const list& b) noexcept {
  if (a.count != b.count) return false;
  for (std::uint32_t i = 0; i < a.count; ++i)
    if (!equal(a.items[i], b.items[i])) return false;
  return true;
}

bool equal_dictionaries(const dictionary& a, const dictionary& b) noexcept {
  if (a.count != b.count) return false;
  for (std::uint32_t i = 0; i < a.room; ++i) {
    if (a.entries[i].key.is == type::nil) continue;
    const value* const other = find(b, a.entries[i].key);
    if (other == nullptr || !equal(a.entries[i].held, *other)) return false;
  }
  return true;
}

}  // namespace

value copy(region& r, const value& v) {
  switch (v.is) {
    case type::nil:
    case type::boolean:
    case type::integer:
      break;
    case type::string:
      return own_text(r, v.text->view());
    case type::list:
      return copy_of(r, *v.list);
    case type::dictionary:
      return copy_of(r, *v.dictionary);
    case type::closure:
      return copy_of(r, *v.closure);
  }
  return v;
}

void drop(region& r, const value& v) noexcept {
  if (!region::frees || !v.owned) return;
  switch (v.is) {
    case type::nil:
    case type::boolean:
    case type::integer:
      return;
    case type::string:
      return drop_tailed(r, v.text, v.text->length);
    case type::list:
      for (std::uint32_t i = 0; i < v.list->count; ++i) drop(r, v.list->items[i]);
      drop_array(r, v.list->items, v.list->room);
      return drop(r, v.list);
    case type::dictionary:
      for (std::uint32_t i = 0; i < v.dictionary->room; ++i) {
        drop(r, v.dictionary->entries[i].key);
        drop(r, v.dictionary->entries[i].held);
      }
      drop_array(r, v.dictionary->entries, v.dictionary->room);
      return drop(r, v.dictionary);
    case type::closure:
      for (std::uint32_t i = 0; i < v.closure->code->capture_count; ++i) drop(r, v.closure->captured[i].held);
      drop_array(r, v.closure->captured, v.closure->code->capture_count);
      return drop(r, v.closure);
  }
}

bool is_true(const value& v) noexcept {
  switch (v.is) {
    case type::nil:
      return false;
    case type::boolean:
    case type::integer:
      return v.integer != 0;
    case type::string:
      return v.text->length != 0;
    case type::list:
      return v.list->count != 0;
    case type::dictionary:
      return v.dictionary->count != 0;
    case type::closure:
      return true;
  }
  return false;
}

bool equal(const value& a, const value& b) noexcept {
  if (a.is != b.is) return false;
  switch (a.is) {
    case type::nil:
      return true;
    case type::boolean:
    case type::integer:
      return a.integer == b.integer;
    case type::string:
      return a.text->view() == b.text->view();
    case type::list:
      return equal_lists(*a.list, *b.list);
    case type::dictionary:
      return equal_dictionaries(*a.dictionary, *b.dictionary);
    case type::closure:
      return a.closure->code == b.closure->code;
  }
  return false;
}

std::string_view name_of(type t) noexcept {
  static constexpr std::array<std::string_view, 7> names = {"nil",  "boolean",    "integer", "string",
                                                            "list", "dictionary", "function"};
  return names[static_cast<std::size_t>(t)];
}

value make_list(region& r, std::uint32_t room) {
  value v;
  v.is = type::list;
  v.owned = true;
  v.list = make<list>(r, list{make_array<value>(r, room), 0, room});
  return v;
}

void append(region& r, list& l, const value& v) {
  if (l.count == l.room) {
    const std::uint32_t room = std::max<std::uint32_t>(4, 2 * l.room);
    value* const items = make_array<value>(r, room);
    std::copy_n(l.items, l.count, items);
    drop_array(r, l.items, l.room);
    l.items = items;
    l.room = room;
  }
  l.items[l.count++] = v;
}

namespace {

std::uint32_t hash_of(const value& key) noexcept {
  if (key.is == type::integer)
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(key.integer) * 0x9e3779b97f4a7c15u) >> 32);
  std::uint32_t hash = 2166136261u;
  for (const char c : key.text->view()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ (hash >> 15);
}

// Where the key is, or the free place where it belongs. There is one: the table is never full.
entry& place_of(const dictionary& d, const value& key) noexcept {
  const std::uint32_t mask = d.room - 1;
  std::uint32_t at = hash_of(key) & mask;
  while (d.entries[at].key.is != type::nil && !equal(d.entries[at].key, key)) at = (at + 1) & mask;
  return d.entries[at];
}

void grow(region& r, dictionary& d) {
  const dictionary small = d;
  d.room = small.room == 0 ? 8 : 2 * small.room;
  d.entries = make_array<entry>(r, d.room);
  for (std::uint32_t i = 0; i < small.room; ++i)
    if (small.entries[i].key.is != type::nil) place_of(d, small.entries[i].key) = small.entries[i];
  drop_array(r, small.entries, small.room);
}

}  // namespace

value make_dictionary(region& r, std::uint32_t keys) {
  value v;
  v.is = type::dictionary;
  v.owned = true;
  const std::uint32_t room = keys == 0 ? 0 : std::bit_ceil(keys + keys / 2 + 1);
  v.dictionary = make<dictionary>(r, dictionary{make_array<entry>(r, room), 0, room});
  return v;
}

value* find(const dictionary& d, const value& key) noexcept {
  if (d.room == 0) return nullptr;
  entry& at = place_of(d, key);
  return at.key.is == type::nil ? nullptr : &at.held;
}

value& find_or_add(region& r, dictionary& d, const value& key) {
  if (value* const there = find(d, key)) return *there;
  if (3 * (d.count + 1) > 2 * d.room) grow(r, d);
  entry& added = place_of(d, key);
  added.key = copy(r, key);
  ++d.count;
  return added.held;
}

}  // namespace mallard::programs
