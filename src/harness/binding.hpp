// binding: how a user reaches a strategy: compiled in, through std::pmr, or as the process's malloc.
#pragma once

#include <string_view>

namespace mallard::harness {

enum class binding { typed, pmr, malloc };

[[nodiscard]] constexpr std::string_view name_of(binding b) noexcept {
  switch (b) {
    case binding::typed:
      return "typed";
    case binding::pmr:
      return "pmr";
    case binding::malloc:
      return "malloc";
  }
  return "";
}

}  // namespace mallard::harness
