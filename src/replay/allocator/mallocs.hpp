// process_malloc: whatever malloc the worker was started with, through malloc, calloc, free and realloc.
// boost_dlmalloc: the malloc inside Boost.Container's library, which its allocators are made of.
//
// What they hold cannot be queried: the kernel's figures take its place (harness/memory_meter.hpp).
#pragma once

#include <algorithm>
#include <boost/container/detail/dlmalloc.hpp>
#include <cstddef>
#include <cstdlib>

#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class process_malloc {
 public:
  explicit process_malloc(const trace&) {}

  void* allocate(const op& o) { return std::malloc(o.size); }
  void* allocate_aligned(const op& o) {
    void* p = nullptr;
    return ::posix_memalign(&p, std::max(o.align(), sizeof(void*)), o.size) == 0 ? p : nullptr;
  }
  void* allocate_zeroed(const op& o) { return std::calloc(1, o.size); }
  void deallocate(void* p, const op&) { std::free(p); }

  // realloc(p, 0) would free: the smallest block takes the place of an empty one.
  void* reallocate(void* p, const op& to, const op&) {
    return std::realloc(p, std::max<std::size_t>(to.size, 1));
  }
  void end_pass() {}
};

// A general heap with boundary tags, as best_fit is: the one to compare that with. It expands and
// shrinks in place, as its allocators do.
class boost_dlmalloc {
 public:
  // Takes a block that moves those after it by this number of bytes, and keeps it; 0: none.
  static void shift(std::size_t bytes) {
    constexpr std::size_t tag = 8;  // of the boundary
    if (bytes != 0) boost::container::dlmalloc_malloc(bytes - tag);
  }

  explicit boost_dlmalloc(const trace&) {}

  void* allocate(const op& o) { return boost::container::dlmalloc_malloc(o.size); }
  void* allocate_aligned(const op& o) { return boost::container::dlmalloc_memalign(o.size, o.align()); }
  void deallocate(void* p, const op&) { boost::container::dlmalloc_free(p); }

  void* reallocate(void* p, const op& to, const op& from) {
    std::size_t received = 0;
    const bool in_place =
        to.align_log2 == from.align_log2 &&
        (to.size > from.size ? boost::container::dlmalloc_grow(p, to.size, to.size, &received)
                             : boost::container::dlmalloc_shrink(p, to.size, from.size, &received, 1)) != 0;
    return in_place ? p : move_block(*this, p, to, from);
  }
  void end_pass() {}
};

}  // namespace mallard::replay
