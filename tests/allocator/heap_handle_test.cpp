#include "mallard/allocator/heap_handle.hpp"

#include <gtest/gtest.h>

#include "mallard/heap/multipool.hpp"

namespace mallard {
namespace {

static_assert(!heap_handle<multipool>::propagate_on_container_copy_assignment::value);
static_assert(!heap_handle<multipool>::propagate_on_container_move_assignment::value);
static_assert(!heap_handle<multipool>::propagate_on_container_swap::value);
static_assert(!heap_handle<multipool>::is_always_equal::value);
static_assert(sizeof(heap_handle<multipool>) == sizeof(void*));
static_assert(std::is_trivially_copyable_v<heap_handle<multipool>>);
static_assert(!std::is_convertible_v<multipool&, heap_handle<multipool>>);

TEST(HeapHandle, IsEqualWhereTheHeapIsTheSame) {
  multipool heap;
  multipool other;
  const heap_handle<multipool> a(heap);
  const heap_handle<multipool> copy(a);
  EXPECT_EQ(&copy.heap(), &heap);
  EXPECT_TRUE(a == copy);
  EXPECT_TRUE(a != heap_handle<multipool>(other));
}

}  // namespace
}  // namespace mallard
