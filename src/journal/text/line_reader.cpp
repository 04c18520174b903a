#include "journal/text/line_reader.hpp"

namespace mallard::journal {
namespace {

constexpr std::size_t max_line = 1024;  // bytes; a line of the longest numbers has fewer than 100

}  // namespace

bool line_reader::next(std::string_view& line) {
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
      throw error("line " + std::to_string(number_ + 1) + ": it is longer than " + std::to_string(max_line) +
                  " bytes");
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

}  // namespace mallard::journal
