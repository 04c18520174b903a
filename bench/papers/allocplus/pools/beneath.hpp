// beneath: what stands below an allocator, asked how much of it is in use and how much it keeps beside.
//
//     allocator --> pool --in use--> heap beneath --cached--> operating system
//
// In use is what has been taken from the heap beneath and not given back: what the pool still holds when all
// nodes are freed. Cached is what the heap beneath has of the system beyond that. A malloc that tells
// neither is asked for neither. Seed 001, "Testing adaptive_pool": the columns after all is deallocated.
#pragma once

#include <malloc.h>

#include <boost/container/detail/dlmalloc.hpp>
#include <cstdint>

#include "common/page.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard::bench {

struct heap_figures {
  std::uint64_t in_use = 0;  // bytes
  std::uint64_t cached = 0;
};
inline constexpr heap_figures untold{not_counted, not_counted};

// Boost.Container's dlmalloc.
struct boost_beneath {
  [[nodiscard]] static heap_figures figures() {
    const std::uint64_t in_use = boost::container::dlmalloc_allocated_memory();
    return heap_figures{in_use, boost::container::dlmalloc_footprint() - in_use};
  }
  static void trim() { boost::container::dlmalloc_trim(0); }
};

// The process's malloc where that is the C library's: another may be loaded ahead of it.
struct glibc_beneath {
  [[nodiscard]] static heap_figures figures() {
    const struct mallinfo2 found = ::mallinfo2();
    return heap_figures{found.uordblks + found.hblkhd, found.fordblks};
  }
  static void trim() { ::malloc_trim(0); }
};

struct unknown_beneath {
  [[nodiscard]] static heap_figures figures() { return untold; }
  static void trim() {}
};

// The chunk cache of the process, which heaps of ours take from; what they have of it they know themselves.
struct chunks_beneath {
  [[nodiscard]] static std::uint64_t cached() { return process_chunks().cached(); }
  static void trim() { process_chunks().trim(0); }
};

}  // namespace mallard::bench
