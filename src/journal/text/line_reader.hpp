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

#include "journal/bytes/file.hpp"

namespace mallard::journal {

class line_reader {
 public:
  explicit line_reader(input from) : from_(std::move(from)) {}

  // The next line, without its end; valid until the next call. False at the end. Throws journal::error.
  bool next(std::string_view& line) {
    if (ended_) return false;
    std::size_t wanted = 1;
    for (;;) {
      const byte_span ahead = from_.peek_all(wanted);
      const std::string_view text(reinterpret_cast<const char*>(ahead.data()), ahead.size());
      const std::size_t length = text.find('\n');
      if (length <= max_line) {
        line = text.substr(0, length);
        from_.consume(length + 1);
        break;
      }
      if (ahead.size() > max_line)
        throw error("line " + std::to_string(number_ + 1) + ": it is longer than " +
                    std::to_string(max_line) + " bytes");
      if (ahead.size() < wanted) {  // the last line, which has no line end
        line = text;
        from_.consume(text.size());
        ended_ = true;
        if (line.empty() || !from_.defect().empty()) return false;
        break;
      }
      wanted = ahead.size() + 1;
    }
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }

  [[nodiscard]] std::size_t number() const noexcept { return number_; }  // of the line that was read last
  [[nodiscard]] double progress() const { return from_.progress(); }
  [[nodiscard]] std::string defect() const { return from_.defect(); }

 private:
  static constexpr std::size_t max_line = 1024;  // bytes; a line of the longest numbers has fewer than 100

  input from_;
  std::size_t number_ = 0;
  bool ended_ = false;
};

}  // namespace mallard::journal
