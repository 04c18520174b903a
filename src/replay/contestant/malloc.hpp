// process_malloc: whatever malloc the worker was started with, through malloc, free and realloc.
//
// What it holds cannot be asked: the kernel's figures stand in (harness/memory_meter.hpp).
#pragma once

#include <cstdlib>

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
  void deallocate(void* p, const op&) { std::free(p); }

  // realloc(p, 0) would free: the smallest block stands for an empty one.
  void* reallocate(void* p, const op& to, const op&) {
    return std::realloc(p, std::max<std::size_t>(to.size, 1));
  }
  void end_pass() {}
};

}  // namespace mallard::replay
