// stack_bounds: the bounds of the stack that a thread runs on, so that no walk reads beyond it.
//
//     7f12a000-7f12b000 ---p ...      the stack around sp: [end of the mapping below it, its own end)
//     7f12b000-7f92b000 rw-p ...  <-- sp
//
// The main thread's, which grows, begins where the mapping below it ends. The caller reads /proc/self/maps
// by system calls of its own, which takes some 10 us.
#pragma once

#include <cstddef>
#include <cstdint>

#include "unwind/frame_rule.hpp"

namespace mallard::unwind {

// Reads the lines "begin-end rest" of a file, number by number. `Read` is long(char* out, std::size_t most):
// the bytes that it got, at most 0 at the end.
template <class Read>
class map_reader {
 public:
  explicit map_reader(Read read) noexcept : read_(read) {}

  bool next(stack_range& mapping) noexcept {
    if (!number(mapping.begin, '-') || !number(mapping.end, ' ')) return false;
    for (char c = 0; c != '\n';)
      if (!get(c)) return false;
    return true;
  }

 private:
  bool get(char& c) noexcept {
    if (at_ == filled_) {
      const long got = read_(buffer_, sizeof buffer_);
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

  Read read_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  char buffer_[512];
};

// The part of a stack that is there for certain, whatever else is.
[[nodiscard]] constexpr stack_range page_of_stack(std::uintptr_t sp) noexcept {
  constexpr std::uintptr_t page_bytes = 4096;
  const std::uintptr_t page = sp & ~(page_bytes - 1);
  return {page, page + page_bytes};
}

// The stack around `sp`; empty where the mappings cannot be read.
template <class Read>
[[nodiscard]] stack_range stack_at(std::uintptr_t sp, Read read) noexcept {
  stack_range found{};
  map_reader<Read> maps(read);
  std::uintptr_t before = 0;
  for (stack_range mapping{}; maps.next(mapping); before = mapping.end) {
    if (sp >= mapping.end) continue;
    if (sp >= mapping.begin) found = {before, mapping.end};
    break;
  }
  return found;
}

}  // namespace mallard::unwind
