// fixed_text: a text of several parts in memory of a fixed size, always closed by a zero. Once a part does
// not fit, nothing more is appended, and good() is false.
#pragma once

#include <string.h>

#include <cstddef>

namespace mallard::recorder {

class fixed_text {
 public:
  // Precondition: size > 0.
  fixed_text(char* out, std::size_t size) noexcept : out_(out), room_(size - 1) { *out_ = '\0'; }

  fixed_text& append(const char* text, std::size_t size) noexcept {
    good_ = good_ && size <= room_;
    if (!good_) return *this;
    memcpy(out_, text, size);
    out_ += size;
    room_ -= size;
    *out_ = '\0';
    return *this;
  }

  fixed_text& append(const char* text) noexcept { return append(text, strlen(text)); }

  fixed_text& append_number(unsigned number) noexcept {
    char digits[10];
    std::size_t at = sizeof digits;
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return append(digits + at, sizeof digits - at);
  }

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] char* end() const noexcept { return out_; }  // where the zero is

 private:
  char* out_;
  std::size_t room_;
  bool good_ = true;
};

}  // namespace mallard::recorder
