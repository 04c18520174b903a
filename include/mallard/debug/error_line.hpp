// error_line: prints one line to standard error, past all buffers.
//
//     error_line("mallard: %zu bytes", n)  -->  write(2, "mallard: 48 bytes\n")
//
// For reports from inside a heap and from signal handlers: it neither allocates nor locks. A line is one
// system call, so lines of several threads do not mix. Lines longer than 1 KiB are truncated.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdio>

#include "mallard/core/version.hpp"

namespace mallard {

[[gnu::format(printf, 1, 2)]] inline void error_line(const char* format, ...) noexcept {
  char line[1024];
  std::va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (wanted < 0) return;
  std::size_t length = std::min<std::size_t>(static_cast<std::size_t>(wanted), sizeof line - 1);
  line[length++] = '\n';  // where the terminator was
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, length);
}

}  // namespace mallard
