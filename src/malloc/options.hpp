// option: a number that the environment gives the malloc.
#pragma once

#include <stdlib.h>

#include <cstddef>

namespace mallard::malloc_library {

// The number in variable `name`; `otherwise` if there is none.
[[nodiscard]] inline std::size_t option(const char* name, std::size_t otherwise) noexcept {
  const char* const text = ::secure_getenv(name);
  if (text == nullptr || *text < '0' || *text > '9') return otherwise;
  return ::strtoul(text, nullptr, 10);
}

}  // namespace mallard::malloc_library
