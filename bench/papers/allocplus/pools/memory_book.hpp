// memory_book: what an allocator has of the operating system while all nodes are alive, when all are freed,
// and when it was asked to give back what it can; and of the heap below it, which is queried.
//
//     opened | full: all alive | freed: the first time | ... | empty: all freed, trimmed | write(page)
//
//     allocator --> pool --in use--> heap below   --cached--> operating system
//
// Resident bytes are those of the page tables, exactly; all that the harness itself needs is mapped in
// before. An allocator's own figures are differences from the beginning, so that what the process had before
// counts for nobody. In use is what has been taken from the heap below and not given back: what the pool
// still holds when all nodes are freed. Cached is what the heap below has of the system beyond that. A
// malloc that tells neither is asked for neither. Cost: a walk over the page tables, each time; never within
// a timed part. Seed 001, "Testing adaptive_pool": the columns after all is deallocated.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <boost/container/detail/dlmalloc.hpp>
#include <cstddef>
#include <cstdint>

#include "common/page.hpp"
#include "harness/memory_meter.hpp"
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

template <class Binding>
class memory_book {
 public:
  // Precondition: the code of the process is mapped in.
  explicit memory_book(Binding& of)
      : binding_(of), before_(of.figures()), resident_(harness::resident_exactly()) {}

  // All nodes are alive.
  void full() { full_ = more(); }

  // All nodes are freed for the first time.
  void freed() { freed_ = more(); }

  // All nodes are freed, `from` is the allocator that they came from.
  template <class Allocator>
  void empty(Allocator& from) {
    kept_ = more();
    figures_ = binding_.figures();
    binding_.trim(from);
    trimmed_ = more();
  }

  // `needed`: bytes of the nodes themselves.
  void write(page& p, std::uint64_t needed) const {
    const std::uint64_t in_use =
        figures_.in_use == not_counted ? not_counted : above(figures_.in_use, before_.in_use);
    p.counted = {needed, full_, freed_, kept_, trimmed_, in_use, figures_.cached};
  }

 private:
  static std::uint64_t above(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
  }
  [[nodiscard]] std::uint64_t more() const { return above(harness::resident_exactly(), resident_); }

  Binding& binding_;
  heap_figures before_;
  std::uint64_t resident_;
  std::uint64_t full_ = 0;
  std::uint64_t freed_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t trimmed_ = 0;
  heap_figures figures_ = untold;
};

}  // namespace mallard::bench
