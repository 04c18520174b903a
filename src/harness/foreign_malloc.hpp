// foreign_malloc: the general-purpose mallocs that others are compared with: those of Debian, and mallard's
// own.
//
// Each is the C library's or a shared object loaded ahead of it into a fresh worker. A worker asks
// malloc_error() before it measures: the wrong malloc is never measured silently. In a sanitized build
// malloc is the sanitizer's, and none of these can be.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mallard::harness {

struct foreign_malloc {
  std::string_view name;      // "jemalloc"
  std::string_view object;    // shared object to preload, "libjemalloc.so.2"; empty: the C library's own
  std::string_view package;   // Debian package that has it; empty: mallard itself
  std::string_view tunables;  // "NAME=value" for the environment, empty: none
  std::string_view summary;
};

[[nodiscard]] std::span<const foreign_malloc> foreign_mallocs();

// Beside these, mallocs that only whole programs are measured under: mallard's own, whose objects lie in the
// installation, and settings that make no difference to one thread.
[[nodiscard]] std::span<const foreign_malloc> further_mallocs();

// The malloc of that name, or null.
[[nodiscard]] const foreign_malloc* find_foreign_malloc(std::string_view name);

// Whether this build runs under a sanitizer's malloc.
[[nodiscard]] bool malloc_is_a_sanitizers();

// Environment that puts `m` in force in a worker.
[[nodiscard]] std::vector<std::string> environment_for(const foreign_malloc& m);

// File name of the object whose malloc this process calls, "libc.so.6".
[[nodiscard]] std::string malloc_in_force();

// Why this process does not run under `m`, in one line; empty if it does.
[[nodiscard]] std::string malloc_error(const foreign_malloc& m);

}  // namespace mallard::harness
