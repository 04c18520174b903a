// line_reader: the lines of a text, one after the other, numbered from 1.
//
//     "a 24 5a0\r\n" "f 5a0" --> "a 24 5a0", "f 5a0"
//
// A line ends like on Unix or on Windows; the last one needs no end, unless the file is damaged there: then
// it is left out. No line is longer than 1024 bytes, so memory is bounded whatever the file holds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "journal/bytes/input.hpp"

namespace mallard::journal {

class line_reader {
 public:
  explicit line_reader(input from) : from_(std::move(from)) {}

  // The next line, without its end; valid until the next call. False at the end. Throws journal::error.
  bool next(std::string_view& line);

  [[nodiscard]] std::size_t number() const noexcept { return number_; }  // of the line that was read last
  [[nodiscard]] double progress() const { return from_.progress(); }
  [[nodiscard]] std::string defect() const { return from_.defect(); }

 private:
  input from_;
  std::size_t number_ = 0;
  bool ended_ = false;
};

}  // namespace mallard::journal
