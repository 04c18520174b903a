#include "mallard/heap/synchronized_adaptive_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "mallard/heap/best_fit.hpp"

namespace mallard {
namespace {

static_assert(thread_caching<synchronized_adaptive_pool> && trimmable<synchronized_adaptive_pool> &&
              fixed_size<synchronized_adaptive_pool>);
static_assert(concurrent<shared_adaptive_pool> && trimmable<shared_adaptive_pool> &&
              fixed_size<shared_adaptive_pool> && burst<shared_adaptive_pool>);

template <class Pool>
std::vector<void*> fill(Pool& pool, std::size_t count) {
  std::vector<void*> blocks(count);
  for (void*& p : blocks) p = pool.allocate(24, 8).data;
  return blocks;
}

template <class Pool>
void free_all(Pool& pool, const std::vector<void*>& blocks) {
  for (void* p : blocks) pool.deallocate(p, 24, 8);
}

// Freed by another thread than allocated them, which then ends.
template <class Pool>
void memory_comes_back(Pool& pool) {
  constexpr std::size_t count = 100000;
  for (int turn = 0; turn < 3; ++turn) {
    const std::vector<void*> blocks = fill(pool, count);
    const std::size_t most = pool.usage().held;
    EXPECT_GE(most, count * 24);
    std::thread([&] { free_all(pool, blocks); }).join();
    EXPECT_LE(pool.usage().held, most / 4);
    EXPECT_FALSE(pool.validate());
  }
  pool.trim(0);
  EXPECT_EQ(pool.usage().held, 0u);
  EXPECT_TRUE(pool.allocate(24, 8)) << "serves on";
}

TEST(SynchronizedAdaptivePool, GivesMemoryBackWhileItIsFreed) {
  synchronized_adaptive_pool pool(24, 8);
  memory_comes_back(pool);
}

TEST(SharedAdaptivePool, GivesMemoryBackWhileItIsFreed) {
  shared_adaptive_pool pool(24, 8);
  memory_comes_back(pool);
}

TEST(SynchronizedAdaptivePool, HoldsLittleOfAMillionBlocksFreedAtRandom) {
  synchronized_adaptive_pool pool(24, 8);
  std::vector<void*> blocks = fill(pool, 1000000);
  const std::size_t most = pool.usage().held;
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  free_all(pool, blocks);
  EXPECT_LE(pool.usage().held, most / 4) << "each block in the cache may keep a chunk";
}

TEST(SynchronizedAdaptivePool, TrimTakesWhatCachesKeepAndLeavesLiveBlocks) {
  synchronized_adaptive_pool pool(24, 8);
  std::vector<void*> blocks = fill(pool, 10000);
  void* const last = blocks.back();
  blocks.pop_back();
  free_all(pool, blocks);
  pool.trim(0);
  EXPECT_EQ(pool.statistics().live(), 1u);
  EXPECT_LE(pool.usage().held, 300000u) << "the chunk of the live block, and the caches";
  pool.deallocate(last, 24, 8);
  pool.trim(0);
  EXPECT_EQ(pool.usage().held, 0u);
}

TEST(SynchronizedAdaptivePool, TakesTheSizeOfItsFirstRequest) {
  synchronized_adaptive_pool pool;
  EXPECT_EQ(pool.allocate(40, 8).size, 40u);
  EXPECT_EQ(pool.block_size(), 40u);
  EXPECT_FALSE(pool.allocate(48, 8));
}

// The caches lie in memory of the upstream, too.
TEST(SynchronizedAdaptivePool, GoesOnAfterItsUpstreamWasCleared) {
  basic_synchronized_adaptive_pool<best_fit> pool(24, 8);
  for (int turn = 0; turn < 3; ++turn) {
    free_all(pool, fill(pool, 1000));
    pool.clear();
    ASSERT_EQ(pool.usage().held, 0u);
  }
  free_all(pool, fill(pool, 1000));
  EXPECT_FALSE(pool.validate());
}

TEST(SynchronizedAdaptivePool, ThreadsThatComeAndGoLeaveNothingBehind) {
  synchronized_adaptive_pool pool(24, 8);
  const std::vector<void*> blocks = fill(pool, 20000);
  for (std::size_t i = 0; i < 100; ++i)
    std::thread([&] {
      for (std::size_t k = i * 200; k < (i + 1) * 200; ++k) pool.deallocate(blocks[k], 24, 8);
    }).join();
  free_all(pool, fill(pool, 1000));
  EXPECT_LE(pool.statistics().carved, 4000u) << "what ended threads had cached is the pool's again";
}

}  // namespace
}  // namespace mallard
