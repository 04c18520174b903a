// Tables of text: cells as columns, each as wide as its widest cell, and two blanks between them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mallard::replay {

inline constexpr const char* unknown = "-";  // what was not measured

// Fixed-point.
[[nodiscard]] std::string number(double value, int decimals);

// The text with blanks behind it, or before it.
[[nodiscard]] std::string padded(const std::string& text, std::size_t width, bool left);

using cells = std::vector<std::vector<std::string>>;

// Lines of cells as columns; `left`(c): whether the c-th begins at the left, or ends at the right.
// Precondition: there is a line, and all have as many cells.
[[nodiscard]] std::string aligned(const cells& lines, const std::function<bool(std::size_t)>& left);

}  // namespace mallard::replay
