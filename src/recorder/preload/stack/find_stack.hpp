// find_stack: the bounds of the stack that a thread runs on, by calls that nobody can intercept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/preload/spool/raw_calls.hpp"
#include "unwind/stack_bounds.hpp"

namespace mallard::recorder {

// The stack around `sp`. Makes no libc call that a thread could be cancelled in, and keeps errno.
[[nodiscard]] inline unwind::stack_range find_stack(std::uintptr_t sp) noexcept {
  const int file = raw_open("/proc/self/maps", O_RDONLY);
  const auto found = unwind::stack_at(sp, [file](char* out, std::size_t most) noexcept -> long {
    return file < 0 ? 0 : raw_call(SYS_read, file, out, most);
  });
  if (file >= 0) raw_close(file);
  return found;
}

}  // namespace mallard::recorder
