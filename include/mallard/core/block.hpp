// block: what a heap hands out.
//
//     data                         data + size
//      v                            v
//      +----------------+-----------+
//      | requested      | slack     |     size = bytes really received, >= bytes requested
//      +----------------+-----------+
//
// The whole of [data, data + size) belongs to the caller. A null block {nullptr, 0} says that the
// heap is exhausted or cannot serve such a request.
#pragma once

#include <cstddef>

#include "mallard/core/version.hpp"

namespace mallard {

struct block {
  void* data = nullptr;
  std::size_t size = 0;  // bytes

  [[nodiscard]] explicit constexpr operator bool() const noexcept { return data != nullptr; }
  friend constexpr bool operator==(const block&, const block&) = default;
};

}  // namespace mallard
