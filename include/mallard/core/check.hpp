// Checks of preconditions and invariants: on in debug builds, absent in release builds.
//
// A violated check is a bug in the caller or in a heap. It prints one line and aborts; it never
// throws and never allocates. MALLARD_CHECKS=1 or =0 overrides the default, which follows NDEBUG.
// All translation units of a program must agree on it.
#pragma once

#include <cstdio>
#include <cstdlib>

#if !defined(MALLARD_CHECKS)
#if defined(NDEBUG)
#define MALLARD_CHECKS 0
#else
#define MALLARD_CHECKS 1
#endif
#endif

namespace mallard::detail {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "mallard: check failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace mallard::detail

#if MALLARD_CHECKS
#define MALLARD_CHECK(condition) \
  ((condition) ? void(0) : ::mallard::detail::check_failed(#condition, __FILE__, __LINE__))
#else
#define MALLARD_CHECK(condition) void(0)
#endif
