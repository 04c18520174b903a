// What mallard-record says of itself: its name and version, and lines for its user on standard error.
#pragma once

#include <cstdio>
#include <string>

#include "mallard/core/version.hpp"

#define MALLARD_TEXT(x) #x
#define MALLARD_DOTTED(a, b, c) MALLARD_TEXT(a) "." MALLARD_TEXT(b) "." MALLARD_TEXT(c)

namespace mallard::recorder {

inline constexpr char recorder_version[] =
    "mallard-record " MALLARD_DOTTED(MALLARD_VERSION_MAJOR, MALLARD_VERSION_MINOR, MALLARD_VERSION_PATCH);

inline void print_message(const std::string& line) {
  std::fprintf(stderr, "mallard-record: %s\n", line.c_str());
}

}  // namespace mallard::recorder

#undef MALLARD_DOTTED
#undef MALLARD_TEXT
