#include "recorder/preload/stack/stack_bounds.hpp"

#include <cstddef>

#include "journal/spool/spool.hpp"
#include "recorder/preload/spool/raw_calls.hpp"

namespace mallard::recorder {
namespace {

// Reads a file of lines "begin-end rest", number by number.
class map_reader {
 public:
  map_reader() noexcept : descriptor_(raw_open("/proc/self/maps", O_RDONLY)) {}
  ~map_reader() noexcept {
    if (descriptor_ >= 0) raw_close(descriptor_);
  }
  map_reader(const map_reader&) = delete;
  map_reader& operator=(const map_reader&) = delete;

  bool next(stack_range& mapping) noexcept {
    if (!number(mapping.begin, '-') || !number(mapping.end, ' ')) return false;
    for (char c = 0; c != '\n';)
      if (!get(c)) return false;
    return true;
  }

 private:
  bool get(char& c) noexcept {
    if (at_ == filled_) {
      const long got = descriptor_ < 0 ? 0 : raw_call(SYS_read, descriptor_, buffer_, sizeof buffer_);
      if (got <= 0) return false;
      filled_ = static_cast<std::size_t>(got);
      at_ = 0;
    }
    c = buffer_[at_++];
    return true;
  }

  bool number(std::uintptr_t& value, char behind) noexcept {
    value = 0;
    for (char c = 0; get(c);) {
      if (c == behind) return true;
      const int digit = c >= 'a' ? c - 'a' + 10 : c - '0';
      value = value << 4 | static_cast<std::uintptr_t>(digit & 0xf);
    }
    return false;
  }

  int descriptor_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  char buffer_[512];
};

}  // namespace

stack_range find_stack(std::uintptr_t sp) noexcept {
  const std::uintptr_t page = sp & ~(journal::spool_page - 1);
  stack_range found{page, page + journal::spool_page};
  map_reader maps;
  std::uintptr_t before = 0;
  for (stack_range mapping{}; maps.next(mapping); before = mapping.end) {
    if (sp >= mapping.end) continue;
    if (sp >= mapping.begin) found = {before, mapping.end};
    break;
  }
  return found;
}

}  // namespace mallard::recorder
