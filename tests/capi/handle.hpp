// handle: a heap of mallard.h that ends with its scope.
#pragma once

#include <gtest/gtest.h>

#include "mallard.h"

namespace mallard::capi {

class handle {
 public:
  explicit handle(unsigned flags = 0, void* buffer = nullptr, std::size_t buffer_size = 0,
                  unsigned kind = MALLARD_BEST_FIT) {
    mallard_heap_options options = MALLARD_HEAP_OPTIONS;
    options.kind = kind;
    options.flags = flags;
    options.buffer = buffer;
    options.buffer_size = buffer_size;
    EXPECT_EQ(mallard_heap_create(&heap_, &options), MALLARD_OK);
  }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { mallard_heap_destroy(heap_); }

  [[nodiscard]] mallard_heap* get() const { return heap_; }

  [[nodiscard]] mallard_heap_statistics statistics() const {
    mallard_heap_statistics told = MALLARD_HEAP_STATISTICS;
    EXPECT_EQ(mallard_heap_measure(heap_, &told), MALLARD_OK);
    return told;
  }

 private:
  mallard_heap* heap_ = nullptr;
};

}  // namespace mallard::capi
