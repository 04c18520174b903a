
#include "programs/interpreter/builtins.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "programs/interpreter/operations.hpp"
#include "programs/interpreter/values.hpp"
#include "programs/memory/objects.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

namespace {

void check(const value& v, type wanted, std::uint32_t line) {
  if (v.is != wanted) fail(line, "an argument of another type is wanted here, not of", name_of(v.is));
}

value run_print(const value* given, region& here, std::uint32_t) {
  text* const line = written(here, given[0]);
  std::fwrite(line->characters(), 1, line->length, stdout);
  std::fputc('\n', stdout);
  drop_tailed(here, line, line->length);
  return {};
}

value run_len(const value* given, region&, std::uint32_t line) {
  return of_integer(length_of(given[0], line));
}

value run_str(const value* given, region& here, std::uint32_t) { return own_text(written(here, given[0])); }

value run_int(const value* given, region&, std::uint32_t line) {
  check(given[0], type::string, line);
  std::string_view digits = given[0].text->view();
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  std::uint64_t sum = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') fail(line, "not an integer", digits);
    sum = sum * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return of_integer(static_cast<std::int64_t>(negative ? 0 - sum : sum));
}

value run_ord(const value* given, region&, std::uint32_t line) {
  check(given[0], type::string, line);
  if (given[0].text->length == 0) fail(line, "no character to number");
  return of_integer(static_cast<unsigned char>(given[0].text->view().front()));
}

value run_chr(const value* given, region& here, std::uint32_t line) {
  check(given[0], type::integer, line);
  const char c = static_cast<char>(given[0].integer);
  return own_text(here, {&c, 1});
}

value run_keys(const value* given, region& here, std::uint32_t line) {
  check(given[0], type::dictionary, line);
  const dictionary& d = *given[0].dictionary;
  const value keys = make_list(here, d.count);
  for (std::uint32_t i = 0; i < d.room; ++i)
    if (d.entries[i].key.is != type::nil) keys.list->items[keys.list->count++] = copy(here, d.entries[i].key);
  return keys;
}

value run_has(const value* given, region&, std::uint32_t line) {
  check(given[0], type::dictionary, line);
  check_key(given[1], line);
  return of_boolean(find(*given[0].dictionary, given[1]) != nullptr);
}

value run_slice(const value* given, region& here, std::uint32_t line) {
  check(given[1], type::integer, line);
  check(given[2], type::integer, line);
  const std::int64_t length = length_of(given[0], line);
  const std::int64_t begin = std::clamp<std::int64_t>(given[1].integer, 0, length);
  const std::int64_t end = std::clamp<std::int64_t>(given[2].integer, begin, length);
  const auto first = static_cast<std::uint32_t>(begin);
  const auto count = static_cast<std::uint32_t>(end - begin);
  if (given[0].is == type::string) return own_text(here, given[0].text->view().substr(first, count));
  check(given[0], type::list, line);
  const value part = make_list(here, count);
  for (std::uint32_t i = 0; i < count; ++i) part.list->items[i] = copy(here, given[0].list->items[first + i]);
  part.list->count = count;
  return part;
}

value run_split(const value* given, region& here, std::uint32_t line) {
  check(given[0], type::string, line);
  check(given[1], type::string, line);
  std::string_view rest = given[0].text->view();
  const std::string_view by = given[1].text->view();
  if (by.empty()) fail(line, "nothing to split by");
  const value parts = make_list(here, 0);
  for (;;) {
    const std::size_t end = std::min(rest.find(by), rest.size());
    append(here, *parts.list, own_text(here, rest.substr(0, end)));
    if (end == rest.size()) return parts;
    rest.remove_prefix(end + by.size());
  }
}

value run_join(const value* given, region& here, std::uint32_t line) {
  check(given[0], type::list, line);
  check(given[1], type::string, line);
  const list& parts = *given[0].list;
  const std::string_view by = given[1].text->view();
  std::size_t length = parts.count == 0 ? 0 : (parts.count - 1) * by.size();
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    check(parts.items[i], type::string, line);
    length += parts.items[i].text->length;
  }
  text* const whole = make_text(here, length);
  char* to = whole->characters();
  const auto put = [&to](std::string_view piece) { to = std::copy(piece.begin(), piece.end(), to); };
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    if (i != 0) put(by);
    put(parts.items[i].text->view());
  }
  return own_text(whole);
}

struct known_builtin {
  std::string_view name;
  std::uint32_t arguments;
  value (*run)(const value*, region&, std::uint32_t);  // null: changes its first argument
};

constexpr std::array<known_builtin, 13> builtins = {{{"push", 2, nullptr},
                                                     {"pop", 1, nullptr},
                                                     {"print", 1, run_print},
                                                     {"len", 1, run_len},
                                                     {"str", 1, run_str},
                                                     {"int", 1, run_int},
                                                     {"ord", 1, run_ord},
                                                     {"chr", 1, run_chr},
                                                     {"keys", 1, run_keys},
                                                     {"has", 2, run_has},
                                                     {"slice", 3, run_slice},
                                                     {"split", 2, run_split},
                                                     {"join", 2, run_join}}};
constexpr std::uint32_t push = 0;

}  // namespace

std::uint32_t builtin_of(std::string_view name) noexcept {
  for (std::uint32_t i = 0; i < builtins.size(); ++i)
    if (builtins[i].name == name) return i;
  return no_builtin;
}

std::uint32_t arguments_of(std::uint32_t builtin) noexcept { return builtins[builtin].arguments; }
bool changes_its_first(std::uint32_t builtin) noexcept { return builtins[builtin].run == nullptr; }

value run_builtin(std::uint32_t builtin, const value* given, region& here, std::uint32_t line) {
  return builtins[builtin].run(given, here, line);
}

value run_changing(std::uint32_t builtin, value& changed, region& home, const value& given, region& here,
                   std::uint32_t line) {
  check(changed, type::list, line);
  list& l = *changed.list;
  if (builtin == push) {
    append(home, l, keep(home, here, given));
    return {};
  }
  if (l.count == 0) fail(line, "nothing to pop");
  return keep(here, home, l.items[--l.count]);
}

}  // namespace mallard::programs
