#include "replay/output/text_table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace mallard::replay {

std::string number(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string blanks(width - std::min(width, text.size()), ' ');
  return left ? text + blanks : blanks + text;
}

std::string aligned(const cells& lines, const std::function<bool(std::size_t)>& left) {
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
