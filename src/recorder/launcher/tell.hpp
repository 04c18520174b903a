// tell: what mallard-record says to its user, a line at a time, on standard error.
#pragma once

#include <cstdio>
#include <string>

namespace mallard::recorder {

inline void tell(const std::string& line) { std::fprintf(stderr, "mallard-record: %s\n", line.c_str()); }

}  // namespace mallard::recorder
