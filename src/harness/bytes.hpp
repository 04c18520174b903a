// Byte quantities as people write them: 4096, 512K, 64M, 4G.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace mallard::harness {

// A whole number with an optional K, M, G or T (powers of 1024, either case, a trailing B or iB
// allowed); nothing if it is not one or does not fit.
[[nodiscard]] inline std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;

  std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  if (unit.empty()) return number;
  constexpr std::string_view letters = "KMGT";
  const auto power = letters.find(static_cast<char>(unit.front() & ~0x20));
  unit.remove_prefix(1);
  if (power == std::string_view::npos || !(unit.empty() || unit == "B" || unit == "iB")) return std::nullopt;

  const auto shift = 10 * (power + 1);
  if (number > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
  return number << shift;
}

// With three significant digits: "831 B", "4.34 MiB".
[[nodiscard]] inline std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, units[unit]);
  return text.data();
}

}  // namespace mallard::harness
