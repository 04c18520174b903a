// The one place that holds the version; CMake and the Python package read it from here. Every other header
// reaches this one before its own first line of code, so it is also where an older C++ is rejected.
#pragma once

#define MALLARD_VERSION_MAJOR 0
#define MALLARD_VERSION_MINOR 1
#define MALLARD_VERSION_PATCH 0

#if __cplusplus <= 201703L
#error "mallard needs C++20: compile with -std=c++20"
#include <needs-c++20>  // no such file: compilation ends here, before a thousand more errors
#endif
