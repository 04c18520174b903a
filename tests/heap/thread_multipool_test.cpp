#include "mallard/heap/thread_multipool.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "heap/thread_properties.hpp"

namespace mallard {
namespace {

template <class Heap>
constexpr bool is_complete_heap =
    heap<Heap> && layered<Heap> && releasable<Heap> && clearable<Heap> && owning<Heap> && inspectable<Heap> &&
    burst<Heap> && predictable<Heap> && concurrent<Heap> && thread_caching<Heap> &&
    std::is_default_constructible_v<Heap> && !std::is_copy_constructible_v<Heap> &&
    !std::is_move_constructible_v<Heap>;

static_assert(is_complete_heap<thread_multipool>);
static_assert(heap_name<thread_multipool> == "threads/multipool");

struct multipools_kind {
  using heap = thread_multipool;
  using watched = basic_thread_multipool<default_source, thread_heap_classes, multipool_growth,
                                         multipool_run_growth, counting_mutex>;
};
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadMultipool, ThreadProperties, multipools_kind);

TEST(ThreadMultipool, HoldsNothingBeforeItsFirstBlock) {
  thread_multipool heap;
  EXPECT_EQ(heap.upstream().held(), 0u);
  EXPECT_EQ(heap.usage(), (heap_usage{}));
  EXPECT_TRUE(heap.allocate(1, 1));
  EXPECT_EQ(heap.usage().held, heap.upstream().held());
  EXPECT_LE(heap.usage().held, 12288u) << "what a thread has, and a page of blocks";
}

TEST(ThreadMultipool, TheSmallestBlockHasRoomForWhatReturnsIt) {
  thread_multipool heap;
  EXPECT_EQ(heap.allocate(1, 1).size, 16u);
  EXPECT_EQ(heap.allocate(24, 8).size, 24u);
}

// Frees of pooled blocks of any class, and of another thread's large ones, take no lock.
TEST(ThreadMultipool, AThreadGrowsAndOthersFreeWithoutWaiting) {
  multipools_kind::watched heap;
  const block small = heap.allocate(48, 8);
  const block uncached = heap.allocate(30000, 8);
  const block large = heap.allocate(100000, 8);
  std::thread([&] {
    heap.deallocate(heap.allocate(48, 8).data, 48, 8);  // makes the thread's heap
    const std::size_t before = counting_mutex::locks;
    heap.deallocate(small.data, 48, 8);
    heap.deallocate(uncached.data, 30000, 8);
    heap.deallocate(large.data, 100000, 8);
    EXPECT_EQ(counting_mutex::locks, before);
  }).join();
  EXPECT_EQ(heap.allocate(30000, 8), uncached) << "it has returned to its heap";
}

TEST(ThreadMultipool, RequestsForPagesAreFewToEachThread) {
  multipools_kind::watched heap;
  constexpr std::size_t many = 100000;
  const std::size_t before = counting_mutex::locks;
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(heap.allocate(48, 8));
  EXPECT_LE(counting_mutex::locks - before, many / 500) << "one for each chunk";
}

}  // namespace
}  // namespace mallard
