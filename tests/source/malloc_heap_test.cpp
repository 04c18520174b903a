#include "mallard/source/malloc_heap.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "mallard/core/concepts.hpp"

namespace mallard {
namespace {

static_assert(heap<malloc_heap> && freeable<malloc_heap> && concurrent<malloc_heap>);
static_assert(!measurable<malloc_heap> && !releasable<malloc_heap>);

TEST(MallocHeap, ServesAnySizeAtAnyAlignment) {
  malloc_heap heap;
  for (std::size_t align = 1; align <= 8192; align *= 2) {
    for (const std::size_t size : {0u, 1u, 24u, 5000u, 300'000u}) {
      const block b = heap.allocate(size, align);
      ASSERT_TRUE(b);
      EXPECT_GE(b.size, std::max<std::size_t>(size, 1));
      EXPECT_TRUE(is_aligned(b.data, align));
      std::memset(b.data, 1, b.size);
      if (size % 2 == 0)
        heap.deallocate(b.data);
      else
        heap.deallocate(b.data, size, align);
    }
  }
}

TEST(MallocHeap, AbsurdRequestsAreNull) {
  malloc_heap heap;
  EXPECT_FALSE(heap.allocate(SIZE_MAX, 1));
  EXPECT_FALSE(heap.allocate(SIZE_MAX - 10, 4096));
  EXPECT_FALSE(heap.allocate(max_request, 4096));
  EXPECT_FALSE(heap.allocate(1, std::size_t{1} << 63));
}

}  // namespace
}  // namespace mallard
