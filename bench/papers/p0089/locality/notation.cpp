#include "p0089/locality/notation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <system_error>

namespace mallard::bench {
namespace {

constexpr std::int64_t largest_exponent = 40;
constexpr std::int64_t most_links = std::int64_t{1} << largest_exponent;
constexpr std::int64_t most_times = 1 << 20;

constexpr std::string_view blanks = " \t";

// A number with or without a sign; takes it off the front.
std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  if (word.starts_with('+')) {
    word.remove_prefix(1);
    if (word.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool is_within(std::int64_t least, std::int64_t number, std::int64_t most) {
  return least <= number && number <= most;
}

}  // namespace

std::optional<locality_run> parse_run(std::string_view text) {
  std::array<std::int64_t, 5> numbers{};
  for (std::int64_t& n : numbers) {
    const std::optional<std::int64_t> number = take_number(text);
    if (!number) return std::nullopt;
    n = *number;
  }
  if (text.find_first_not_of(blanks) != text.npos) return std::nullopt;
  auto [global, subsystem, access, shuffle, repeat] = numbers;
  if (global < 0) {
    if (!is_within(-largest_exponent, global, 0) || !is_within(0, subsystem, -global)) return std::nullopt;
    global = std::int64_t{1} << -global;
    subsystem = std::int64_t{1} << subsystem;
  }
  if (!is_within(1, global, most_links) || !is_within(1, subsystem, global) ||
      !is_within(0, access, most_times) || !is_within(-most_times, shuffle, most_times) ||
      !is_within(0, repeat, most_times))
    return std::nullopt;
  const auto count = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  return locality_run{count(global), count(subsystem), count(access), count(std::abs(shuffle)),
                      count(repeat), shuffle < 0};
}

}  // namespace mallard::bench
