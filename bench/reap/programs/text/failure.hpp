// fail: a program's end by a mistake in its input: one line, "line 12: no such variable: x", and exit code 1.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mallard::programs {

[[noreturn]] inline void fail(std::uint32_t line, std::string_view what, std::string_view name = {}) {
  std::fflush(stdout);
  std::fprintf(stderr, "line %u: %.*s%s%.*s\n", line, static_cast<int>(what.size()), what.data(),
               name.empty() ? "" : ": ", static_cast<int>(name.size()), name.data());
  std::exit(1);
}

}  // namespace mallard::programs
