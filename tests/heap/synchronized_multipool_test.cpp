#include "mallard/heap/synchronized_multipool.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "heap/thread_properties.hpp"

namespace mallard {
namespace {

template <class Heap>
constexpr bool is_complete_heap =
    heap<Heap> && layered<Heap> && releasable<Heap> && clearable<Heap> && owning<Heap> && inspectable<Heap> &&
    burst<Heap> && concurrent<Heap> && thread_caching<Heap> && std::is_default_constructible_v<Heap> &&
    !std::is_copy_constructible_v<Heap> && !std::is_move_constructible_v<Heap>;

static_assert(is_complete_heap<synchronized_multipool>);

struct multipool_kind {
  using heap = synchronized_multipool;
  using watched = basic_synchronized_multipool<default_source, synchronized_multipool_classes,
                                               multipool_growth, multipool_run_growth, counting_mutex>;
};
INSTANTIATE_TYPED_TEST_SUITE_P(SynchronizedMultipool, ThreadProperties, multipool_kind);

TEST(SynchronizedMultipool, HoldsNothingBeforeItsFirstBlock) {
  synchronized_multipool heap;
  EXPECT_EQ(heap.upstream().held(), 0u);
  EXPECT_EQ(heap.usage(), (heap_usage{}));
  EXPECT_TRUE(heap.allocate(1, 1));
  EXPECT_EQ(heap.usage().held, heap.upstream().held());
}

TEST(SynchronizedMultipool, TheSmallestBlockHasRoomForABatch) {
  synchronized_multipool heap;
  EXPECT_EQ(heap.allocate(1, 1).size, 16u);
  EXPECT_EQ(heap.allocate(24, 8).size, 24u);
}

// Frees of pooled blocks of any class take no lock; those of large ones do.
TEST(SynchronizedMultipool, BlocksAboveTheCachedOnesAreFreedWithoutALockToo) {
  multipool_kind::watched heap;
  constexpr std::size_t size = 30000;
  static_assert(size > multipool_kind::watched::largest_cached &&
                size < multipool_kind::watched::classes::largest);
  const block first = heap.allocate(size, 8);
  const block large = heap.allocate(multipool_kind::watched::classes::largest + 1, 8);
  const std::size_t before = counting_mutex::locks;
  heap.deallocate(first.data, size, 8);
  EXPECT_EQ(counting_mutex::locks, before);
  heap.deallocate(large.data, large.size, 8);
  EXPECT_EQ(counting_mutex::locks, before + 1);
  EXPECT_EQ(heap.allocate(size, 8), first) << "it is taken again";
}

TEST(SynchronizedMultipool, ACacheKeepsAtMostTwoBatchesAClass) {
  synchronized_multipool heap;
  using classes = synchronized_multipool::classes;
  std::size_t bound = 0;
  std::vector<std::vector<void*>> blocks(classes::count, std::vector<void*>(200));
  for (std::size_t i = classes::index(1, 1); i < classes::count; ++i) {
    const std::size_t size = classes::size(i);
    if (size <= synchronized_multipool::largest_cached) bound += 2 * batch_blocks(size) * size;
    for (void*& p : blocks[i]) p = heap.allocate(size, 8).data;
  }
  for (std::size_t i = classes::index(1, 1); i < classes::count; ++i)
    for (void* const p : blocks[i]) heap.deallocate(p, classes::size(i), 8);
  EXPECT_LE(bound, 320u << 10);
  // Another thread finds all but what this one keeps.
  std::thread([&] {
    const std::size_t held = heap.usage().held;
    for (std::size_t i = classes::index(1, 1); i < classes::count; ++i) {
      const std::size_t size = classes::size(i);
      const auto kept = size <= synchronized_multipool::largest_cached ? 2 * batch_blocks(size) : 0;
      for (std::size_t k = kept; k < 200; ++k) ASSERT_TRUE(heap.allocate(size, 8));
    }
    EXPECT_LE(heap.usage().held, held + 24576)
        << "nothing but the other thread's cache, of all classes, is new";
  }).join();
}

}  // namespace
}  // namespace mallard
