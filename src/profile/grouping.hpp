// grouping: which group an object belongs to, that of its context or that of its birth thread.
//
//     of_context  0 1 2 2 2 1 ...        of_thread  0 1 1 1 ...
//                 |     group of context 3             |  group of thread 1
//
// Exactly one of the two is used. Its entries are below `groups`; what has no entry is of group 0.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/object.hpp"

namespace mallard::profile {

struct grouping {
  std::vector<std::uint32_t> of_context{};  // empty: by thread
  std::vector<std::uint32_t> of_thread{};   // empty: by context
  std::uint32_t groups = 0;                 // their number

  [[nodiscard]] std::uint32_t of(const object& o) const noexcept {
    const bool by_context = !of_context.empty();
    const std::vector<std::uint32_t>& table = by_context ? of_context : of_thread;
    const std::uint32_t index = by_context ? o.context : o.thread;
    return index < table.size() ? table[index] : 0;
  }
};

}  // namespace mallard::profile
