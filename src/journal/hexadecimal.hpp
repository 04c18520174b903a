// Bytes as lower-case hexadecimal digits, the way build ids are written.
#pragma once

#include <string>
#include <string_view>

namespace mallard::journal {

[[nodiscard]] inline std::string hexadecimal(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace mallard::journal
