#include "programs/interpreter/operations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "programs/interpreter/values.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

namespace {

// Wraps, as unsigned arithmetic does.
std::int64_t wrapping(operation op, std::int64_t a, std::int64_t b) noexcept {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  if (op == operation::add) return static_cast<std::int64_t>(x + y);
  if (op == operation::subtract) return static_cast<std::int64_t>(x - y);
  return static_cast<std::int64_t>(x * y);
}

value of_integers(operation op, std::int64_t a, std::int64_t b, std::uint32_t line) {
  switch (op) {
    case operation::add:
    case operation::subtract:
    case operation::multiply:
      return of_integer(wrapping(op, a, b));
    case operation::divide:
    case operation::remainder:
      if (b == 0) fail(line, "division by zero");
      if (b == -1) return of_integer(op == operation::divide ? wrapping(operation::subtract, 0, a) : 0);
      return of_integer(op == operation::divide ? a / b : a % b);
    case operation::less:
      return of_boolean(a < b);
    case operation::at_most:
      return of_boolean(a <= b);
    case operation::more:
      return of_boolean(a > b);
    case operation::at_least:
      return of_boolean(a >= b);
    case operation::equal:
    case operation::unequal:
      break;
  }
  return of_boolean((a == b) == (op == operation::equal));
}

value of_texts(operation op, const text& a, const text& b, region& here, std::uint32_t line) {
  switch (op) {
    case operation::add: {
      text* const sum = make_text(here, std::size_t{a.length} + b.length);
      std::memcpy(sum->characters(), a.view().data(), a.length);
      std::memcpy(sum->characters() + a.length, b.view().data(), b.length);
      return own_text(sum);
    }
    case operation::less:
      return of_boolean(a.view() < b.view());
    case operation::at_most:
      return of_boolean(a.view() <= b.view());
    case operation::more:
      return of_boolean(a.view() > b.view());
    case operation::at_least:
      return of_boolean(a.view() >= b.view());
    default:
      fail(line, "strings know no such operation");
  }
}

value sum_of(const list& a, const list& b, region& here) {
  const value sum = make_list(here, a.count + b.count);
  for (const list* part : {&a, &b})
    for (std::uint32_t i = 0; i < part->count; ++i)
      sum.list->items[sum.list->count++] = copy(here, part->items[i]);
  return sum;
}

}  // namespace

value operate(operation op, const value& a, const value& b, region& here, std::uint32_t line) {
  if (a.is == type::integer && b.is == type::integer) return of_integers(op, a.integer, b.integer, line);
  if (op == operation::equal || op == operation::unequal)
    return of_boolean(equal(a, b) == (op == operation::equal));
  if (a.is == type::string && b.is == type::string) return of_texts(op, *a.text, *b.text, here, line);
  if (op == operation::add && a.is == type::list && b.is == type::list) return sum_of(*a.list, *b.list, here);
  fail(line, "no such operation on a value of type", name_of(a.is == type::integer ? b.is : a.is));
}

value element_of(const value& base, const value& at, region& here, std::uint32_t line) {
  switch (base.is) {
    case type::list:
      return lent(base.list->items[position_in(*base.list, at, line)]);
    case type::dictionary: {
      check_key(at, line);
      const value* const found = find(*base.dictionary, at);
      return found == nullptr ? value{} : lent(*found);
    }
    case type::string: {
      const auto i = static_cast<std::uint64_t>(at.integer);
      if (at.is != type::integer || i >= base.text->length) fail(line, "no such character");
      return own_text(here, base.text->view().substr(i, 1));
    }
    default:
      fail(line, "no elements in a value of type", name_of(base.is));
  }
}

std::size_t position_in(const list& l, const value& at, std::uint32_t line) {
  const auto i = static_cast<std::uint64_t>(at.integer);
  if (at.is != type::integer || i >= l.count) fail(line, "no such element");
  return i;
}

std::int64_t length_of(const value& v, std::uint32_t line) {
  switch (v.is) {
    case type::string:
      return v.text->length;
    case type::list:
      return v.list->count;
    case type::dictionary:
      return v.dictionary->count;
    default:
      fail(line, "no length of a value of type", name_of(v.is));
  }
}

void check_key(const value& key, std::uint32_t line) {
  if (key.is != type::integer && key.is != type::string)
    fail(line, "no key can be a value of type", name_of(key.is));
}

namespace {

// Counts characters, and writes them where there is a place.
class sink {
 public:
  explicit sink(char* to) : to_(to) {}
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  void put(std::string_view piece) noexcept {
    if (to_ != nullptr) piece.copy(to_ + length_, piece.size());
    length_ += piece.size();
  }

  void put(std::int64_t number) noexcept {
    char digits[24];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
    put({digits, static_cast<std::size_t>(end.ptr - digits)});
  }

 private:
  char* to_;
  std::size_t length_ = 0;
};

void put_inner(sink& out, const value& v);

void put_list(sink& out, const list& l) {
  out.put("[");
  for (std::uint32_t i = 0; i < l.count; ++i) {
    if (i != 0) out.put(", ");
    put_inner(out, l.items[i]);
  }
  out.put("]");
}

void put_dictionary(sink& out, const dictionary& d) {
  out.put("{");
  bool first = true;
  for (std::uint32_t i = 0; i < d.room; ++i) {
    if (d.entries[i].key.is == type::nil) continue;
    if (!first) out.put(", ");
    first = false;
    put_inner(out, d.entries[i].key);
    out.put(": ");
    put_inner(out, d.entries[i].held);
  }
  out.put("}");
}

void put_value(sink& out, const value& v) {
  switch (v.is) {
    case type::nil:
      return out.put("nil");
    case type::boolean:
      return out.put(v.integer != 0 ? "true" : "false");
    case type::integer:
      return out.put(v.integer);
    case type::string:
      return out.put(v.text->view());
    case type::list:
      return put_list(out, *v.list);
    case type::dictionary:
      return put_dictionary(out, *v.dictionary);
    case type::closure:
      return out.put("fn");
  }
}

void put_inner(sink& out, const value& v) {
  if (v.is == type::string) out.put("\"");
  put_value(out, v);
  if (v.is == type::string) out.put("\"");
}

}  // namespace

text* written(region& r, const value& v) {
  sink counted(nullptr);
  put_value(counted, v);
  text* const made = make_text(r, counted.length());
  sink out(made->characters());
  put_value(out, v);
  return made;
}

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
