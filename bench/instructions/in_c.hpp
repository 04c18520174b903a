// A heap through mallard.h, as a program in C has it: blocks of 48 bytes by calls into code that is compiled
// on its own.
#pragma once

#include <cstdlib>

#include "bindings.hpp"
#include "mallard.h"

namespace instructions {

class in_c {
 public:
  in_c(unsigned kind, unsigned flags) {
    mallard_heap_options options = MALLARD_HEAP_OPTIONS;
    options.kind = kind;
    options.flags = flags;
    if (mallard_heap_create(&heap_, &options) != MALLARD_OK) std::abort();
  }
  in_c(const in_c&) = delete;
  in_c& operator=(const in_c&) = delete;
  ~in_c() { mallard_heap_destroy(heap_); }

  [[gnu::always_inline]] void* allocate() { return mallard_heap_allocate(heap_, item_size); }
  [[gnu::always_inline]] void deallocate(void* p) { mallard_heap_free(heap_, p); }
  void clear() { mallard_heap_clear(heap_); }

 private:
  mallard_heap* heap_ = nullptr;
};

}  // namespace instructions
