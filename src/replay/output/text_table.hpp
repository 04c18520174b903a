// Tables of text: cells as columns, each as wide as its widest cell, and two blanks between them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace mallard::replay {

inline constexpr const char* unknown = "-";  // what was not measured

// Fixed-point.
[[nodiscard]] inline std::string number(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

// The text with blanks behind it, or before it.
[[nodiscard]] inline std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string blanks(width - std::min(width, text.size()), ' ');
  return left ? text + blanks : blanks + text;
}

using cells = std::vector<std::vector<std::string>>;

// Lines of cells as columns; `left`(c): whether the c-th begins at the left, or ends at the right.
// Precondition: there is a line, and all have as many cells.
template <class Left>
[[nodiscard]] std::string aligned(const cells& lines, Left left) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());

  std::string text;
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) text += padded(line[c], widths[c], left(c)) + "  ";
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace mallard::replay
