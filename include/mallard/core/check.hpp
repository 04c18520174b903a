// Checks of preconditions and invariants, in three levels.
//
//     MALLARD_CHECKS   0   none                               the default with NDEBUG
//                      1   MALLARD_CHECK: O(1) each           that of an optimised build without NDEBUG
//                      2   and MALLARD_VALIDATE: where many   the default otherwise
//                          blocks end, a walk over the heap
//
// A violated check is a bug in the caller or in a heap. It prints one line and aborts; it never throws and
// never allocates. Define MALLARD_CHECKS to choose the level; all translation units of a program must agree
// on it.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "mallard/core/version.hpp"

#if !defined(MALLARD_CHECKS)
#if defined(NDEBUG)
#define MALLARD_CHECKS 0
#elif defined(__OPTIMIZE__)
#define MALLARD_CHECKS 1
#else
#define MALLARD_CHECKS 2
#endif
#endif

namespace mallard::detail {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "mallard: check failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace mallard::detail

#if MALLARD_CHECKS >= 1
#define MALLARD_CHECK(condition) \
  ((condition) ? void(0) : ::mallard::detail::check_failed(#condition, __FILE__, __LINE__))
#else
#define MALLARD_CHECK(condition) void(0)
#endif

// For the members of a heap: its validate() finds nothing.
#if MALLARD_CHECKS >= 2
#define MALLARD_VALIDATE() MALLARD_CHECK(!validate())
#else
#define MALLARD_VALIDATE() void(0)
#endif
