// malloc_heap: the process's malloc as a heap: the C library's, or the one that replaces it.
//
//     heap or layer --> malloc_heap --> malloc, aligned_alloc, free
//
// It lets layers stand on a malloc, for use and for comparison. It has no state: any malloc_heap may free a
// block of another, on any thread. Received sizes are the requested ones, as
// not every malloc can report more.
// Cost: that of the malloc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"

namespace mallard {

class malloc_heap {
 public:
  static constexpr bool is_concurrent = true;

  malloc_heap() = default;
  malloc_heap(const malloc_heap&) = delete;
  malloc_heap& operator=(const malloc_heap&) = delete;

  // The members of a heap, though this one has no state.
  // NOLINTBEGIN(readability-convert-member-functions-to-static, readability-make-member-function-const)
  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    size = std::max<std::size_t>(size, 1);
    if (size > max_request) return {};
    if (align <= default_align) return granted(std::malloc(size), size);
    if (align > max_request - size) return {};
    return granted(std::aligned_alloc(align, align_up(size, align)), size);
  }

  void deallocate(void* p) noexcept { std::free(p); }
  void deallocate(void* p, std::size_t, std::size_t) noexcept { std::free(p); }
  // NOLINTEND(readability-convert-member-functions-to-static, readability-make-member-function-const)

 private:
  static block granted(void* p, std::size_t size) noexcept { return p == nullptr ? block{} : block{p, size}; }
};

}  // namespace mallard
