// boost_dlmalloc: the malloc inside Boost.Container's library, which its allocators are made of.
//
//     pass --> dlmalloc_malloc, dlmalloc_free ...     blocks with tags, found by size, under a lock
//
// A general heap with boundary tags as best_fit is one: what that is to be held against. Expansion and
// shrinking in place as its allocators use them. It is the process's, and what it holds cannot be asked for
// all of a pass: the kernel's figures stand in (harness/memory_meter.hpp).
#pragma once

#include <boost/container/detail/dlmalloc.hpp>
#include <cstddef>

#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class boost_dlmalloc {
 public:
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
