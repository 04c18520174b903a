#include "mallard/heap/synchronized_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <type_traits>
#include <vector>

#include "heap/thread_properties.hpp"

namespace mallard {
namespace {

static_assert(heap<synchronized_pool> && layered<synchronized_pool> && fixed_size<synchronized_pool> &&
              releasable<synchronized_pool> && clearable<synchronized_pool> &&
              predictable<synchronized_pool> && owning<synchronized_pool> && inspectable<synchronized_pool> &&
              burst<synchronized_pool> && concurrent<synchronized_pool> && thread_caching<synchronized_pool>);
static_assert(std::is_default_constructible_v<synchronized_pool> &&
              !std::is_copy_constructible_v<synchronized_pool>);

struct pool_kind {
  using heap = synchronized_pool;
  using watched = basic_synchronized_pool<default_source, pool_growth, counting_mutex>;
};
INSTANTIATE_TYPED_TEST_SUITE_P(SynchronizedPool, ThreadProperties, pool_kind);

TEST(SynchronizedPool, HoldsNothingBeforeItsFirstBlock) {
  synchronized_pool heap(48);
  EXPECT_EQ(heap.upstream().held(), 0u);
  EXPECT_EQ(heap.usage(), (heap_usage{}));
  EXPECT_TRUE(heap.allocate(48, 8));
  EXPECT_EQ(heap.usage().held, heap.upstream().held());
}

TEST(SynchronizedPool, TheSmallestBlockHasRoomForABatch) {
  const synchronized_pool heap(1, 1);
  EXPECT_EQ(heap.block_size(), 16u);
  EXPECT_EQ(heap.block_align(), alignof(void*));
  EXPECT_EQ(heap.received_size(17, 1), 0u);
}

TEST(SynchronizedPool, ASizeThatNoSourceHasServesNothing) {
  synchronized_pool heap(SIZE_MAX, 16);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
    EXPECT_FALSE(heap.allocate(size, 1));
    EXPECT_EQ(heap.received_size(size, 1), 0u);
  }
  EXPECT_FALSE(heap.validate());
}

TEST(SynchronizedPool, TheFirstRequestDecidesAndReleaseLetsTheNextOne) {
  synchronized_pool heap;
  EXPECT_EQ(heap.block_size(), 0u);
  EXPECT_EQ(heap.received_size(100, 8), 104u);
  EXPECT_EQ(heap.allocate(100, 8).size, 104u);
  EXPECT_FALSE(heap.allocate(105, 8));
  heap.release();
  EXPECT_EQ(heap.block_size(), 0u);
  EXPECT_EQ(heap.allocate(200, 8).size, 200u);
  EXPECT_EQ(heap.block_size(), 200u);
}

// However many ask at once, all blocks have one size.
TEST(SynchronizedPool, ManyFirstRequestsDecideOnOneSize) {
  for (int round = 0; round < 200; ++round) {
    synchronized_pool heap;
    std::atomic<bool> go{false};
    std::atomic<std::size_t> other_sizes{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 1; t <= 4; ++t)
      threads.emplace_back([&, t] {
        while (!go) std::this_thread::yield();
        const block b = heap.allocate(t * 32, 8);
        if (b && b.size != heap.block_size()) ++other_sizes;
        if (heap.block_size() < t * 32 ? static_cast<bool>(b) : !b) ++other_sizes;
      });
    go = true;
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(other_sizes.load(), 0u);
    ASSERT_FALSE(heap.validate());
  }
}

}  // namespace
}  // namespace mallard
