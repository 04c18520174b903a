#include "programs/interpreter/value.hpp"

#include <array>

#include "programs/interpreter/dictionary.hpp"
#include "programs/interpreter/function.hpp"
#include "programs/interpreter/list.hpp"
#include "programs/interpreter/text_value.hpp"
#include "programs/memory/objects.hpp"

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

}  // namespace mallard::programs
