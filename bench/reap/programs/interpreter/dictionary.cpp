#include "programs/interpreter/dictionary.hpp"

#include <bit>

#include "programs/interpreter/text_value.hpp"
#include "programs/memory/objects.hpp"

namespace mallard::programs {

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
