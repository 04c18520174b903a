#include "mallard/heap/pool.hpp"

#include <gtest/gtest.h>

#include <list>
#include <type_traits>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

static_assert(heap<pool> && layered<pool> && fixed_size<pool> && releasable<pool> && clearable<pool> &&
              predictable<pool> && owning<pool> && inspectable<pool> && burst<pool>);
static_assert(std::is_default_constructible_v<pool> && !std::is_copy_constructible_v<pool>);
static_assert(!freeable<pool> && !resizable<pool> && !concurrent<pool>);

TEST(Pool, HoldsNothingBeforeItsFirstBlockAndOnePageAfter) {
  pool heap(48);
  EXPECT_EQ(heap.upstream().held(), 0u);
  EXPECT_TRUE(heap.allocate(48, 8));
  EXPECT_EQ(heap.upstream().held(), os_pages::page_size());
}

TEST(Pool, BlocksOfAChunkFollowEachOtherWithoutHeaders) {
  pool heap(48);
  auto* const first = static_cast<std::byte*>(heap.allocate(48, 8).data);
  for (std::size_t i = 1; i < 80; ++i) EXPECT_EQ(heap.allocate(48, 8).data, first + i * 48);
}

TEST(Pool, TheBlockFreedLastIsTheNext) {
  pool heap(48);
  const block a = heap.allocate(48, 8);
  const block b = heap.allocate(40, 8);
  heap.deallocate(a.data, 48, 8);
  heap.deallocate(b.data, 40, 8);
  EXPECT_EQ(heap.allocate(1, 1).data, b.data);
  EXPECT_EQ(heap.allocate(48, 16).data, a.data);
}

TEST(Pool, ABurstIsWhatWasFreedAndThenNewBlocksInARow) {
  pool heap(48);
  std::vector<std::byte*> blocks(3);
  for (std::byte*& p : blocks) p = static_cast<std::byte*>(heap.allocate(48, 8).data);
  heap.deallocate(blocks[0], 48, 8);
  heap.deallocate(blocks[1], 48, 8);
  chain burst;
  ASSERT_TRUE(heap.allocate_burst(burst, 500, 48, 8, 0));
  ASSERT_EQ(burst.size(), 500u);
  EXPECT_EQ(burst.pop_front(), blocks[1]);
  EXPECT_EQ(burst.pop_front(), blocks[0]);
  EXPECT_EQ(burst.front(), blocks[2] + 48);
  std::size_t adjacent = 0;
  for (const void* p = burst.front(); chain::next(p) != nullptr; p = chain::next(p))
    adjacent += static_cast<std::size_t>(chain::next(p) == static_cast<const std::byte*>(p) + 48);
  EXPECT_GT(adjacent, 490u) << "but for the ends of chunks";
  EXPECT_EQ(heap.statistics().live(), 501u);
  heap.deallocate_burst(burst, 48, 8);
  EXPECT_EQ(heap.statistics().live(), 3u);
}

TEST(Pool, ABurstThatFailsLeavesAllBlocksFree) {
  alignas(16) static std::byte buffer[4096];
  basic_pool<fixed_buffer> heap(64, 16, buffer, sizeof buffer);
  chain burst;
  EXPECT_FALSE(heap.allocate_burst(burst, 100, 64, 16, 0));
  EXPECT_TRUE(burst.empty());
  EXPECT_EQ(heap.statistics().live(), 0u);
  const std::size_t all = heap.statistics().carved;
  EXPECT_GT(all, 40u);
  EXPECT_TRUE(heap.allocate_burst(burst, all, 64, 16, 0));
  EXPECT_FALSE(heap.allocate_burst(burst, 1, 128, 16, 0)) << "of blocks that are too small";
}

TEST(Pool, HoldsItsPeakAndLittleMoreAfterEverythingIsFreed) {
  for (const std::size_t size : {8u, 48u, 1000u, 8192u, 12304u, 40960u, 100000u, 300000u}) {
    pool heap(size, 8);
    std::vector<void*> blocks;
    std::size_t peak = 0;
    for (; peak < 4000000; peak += size) blocks.push_back(heap.allocate(size, 8).data);
    for (void* p : blocks) heap.deallocate(p, size, 8);
    EXPECT_LE(heap.upstream().held(), peak + peak * 3 / 16) << size;
  }
}

TEST(Pool, SmallSizesAreRoundedToWhatHoldsALink) {
  const pool heap(1, 1);
  EXPECT_EQ(heap.block_size(), sizeof(void*));
  EXPECT_EQ(heap.block_align(), alignof(void*));
}

TEST(Pool, SizesAreRoundedToTheAlignment) {
  pool heap(40, 64);
  EXPECT_EQ(heap.block_size(), 64u);
  EXPECT_EQ(heap.allocate(1, 1).size, 64u);
}

TEST(Pool, ASizeThatNoSourceHasServesNothing) {
  for (pool heap(SIZE_MAX, 16); const std::size_t size : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
    EXPECT_FALSE(heap.allocate(size, 1));
    EXPECT_EQ(heap.received_size(size, 1), 0u);
    EXPECT_FALSE(heap.validate());
  }
}

TEST(Pool, ClearKeepsAllChunksAndTheSize) {
  pool heap(48);
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(heap.allocate(48, 8));
  const std::size_t held = heap.upstream().held();
  heap.clear();
  EXPECT_EQ(heap.upstream().held(), held);
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(heap.allocate(48, 8));
  EXPECT_EQ(heap.upstream().held(), held);
  EXPECT_FALSE(heap.allocate(49, 8));
}

TEST(Pool, ReleaseGivesAllChunksBackAndKeepsAGivenSize) {
  pool heap(48);
  ASSERT_TRUE(heap.allocate(48, 8));
  heap.release();
  EXPECT_EQ(heap.upstream().held(), 0u);
  EXPECT_EQ(heap.block_size(), 48u);
}

TEST(Pool, LosesOnlyTheEndsOfItsChunks) {
  pool heap(48);
  constexpr std::size_t count = 100000;
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(heap.allocate(48, 8));
  // The chunk in use is an eighth of what is held at most.
  EXPECT_LE(heap.upstream().held(), count * 48 * 9 / 8 + 4096);
}

TEST(PoolWithoutASize, TakesThatOfItsFirstRequest) {
  pool heap;
  EXPECT_EQ(heap.block_size(), 0u);
  EXPECT_EQ(heap.received_size(20, 8), 24u);
  EXPECT_EQ(heap.allocate(20, 8).size, 24u);
  EXPECT_EQ(heap.block_size(), 24u);
  EXPECT_FALSE(heap.allocate(25, 8));
  EXPECT_FALSE(heap.allocate(24, 16));
  EXPECT_FALSE(heap.validate());
}

TEST(PoolWithoutASize, TakesTheSizeOfAZeroByteRequestAsWell) {
  pool heap;
  EXPECT_EQ(heap.allocate(0, 1).size, sizeof(void*));
}

TEST(PoolWithoutASize, DecidesAnewAfterReleaseButNotAfterClear) {
  pool heap;
  ASSERT_TRUE(heap.allocate(24, 8));
  heap.clear();
  EXPECT_FALSE(heap.allocate(48, 8));
  heap.release();
  EXPECT_EQ(heap.allocate(48, 8).size, 48u);
}

TEST(PoolWithoutASize, StaysUndecidedWhereItsFirstRequestFails) {
  basic_pool<failing<default_source>> heap;
  heap.upstream().fail_from(1);
  EXPECT_FALSE(heap.allocate(24, 8));
  EXPECT_FALSE(heap.allocate(SIZE_MAX, 8));
  EXPECT_EQ(heap.block_size(), 0u);
  heap.upstream().fail_no_more();
  EXPECT_EQ(heap.allocate(48, 8).size, 48u);
}

TEST(PoolWithoutASize, StaysUndecidedWhereItsFirstBurstFails) {
  basic_pool<failing<default_source>> heap;
  heap.upstream().fail_from(2);
  chain out;
  EXPECT_FALSE(heap.allocate_burst(out, 1000, 48, 8, 0));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(heap.block_size(), 0u);
  EXPECT_EQ(heap.upstream().held(), 0u);
  heap.upstream().fail_no_more();
  EXPECT_EQ(heap.allocate(100, 8).size, 104u);
}

TEST(PoolWithoutASize, ServesAContainerOfNodes) {
  pool heap;
  std::list<int, allocator<int, pool>> list(heap);
  for (int i = 0; i < 1000; ++i) list.push_back(i);
  const std::size_t held = heap.upstream().held();
  for (int turn = 0; turn < 10; ++turn) {
    list.clear();
    for (int i = 0; i < 1000; ++i) list.push_back(i);
  }
  EXPECT_EQ(heap.upstream().held(), held);
  EXPECT_EQ(heap.statistics().live(), 1000u);
}

TEST(PoolStatistics, CountWhatWasCarvedAndWhatIsFree) {
  pool heap(48);
  std::vector<void*> blocks;
  for (int i = 0; i < 300; ++i) blocks.push_back(heap.allocate(48, 8).data);
  for (int i = 0; i < 100; ++i) heap.deallocate(blocks[static_cast<std::size_t>(3 * i)], 48, 8);
  EXPECT_EQ(heap.statistics(), (pool_statistics{48, 300, 100}));
  EXPECT_EQ(heap.statistics().live(), 200u);
  heap.clear();
  EXPECT_EQ(heap.statistics(), (pool_statistics{48, 0, 0}));
}

// A chunk for each block. A step for each chunk and block would take minutes.
TEST(Pool, FreeingAndInspectingTakeNoStepForEachChunk) {
  basic_pool<basic_monotonic<>, constant<1>> heap(16);
  std::vector<void*> blocks(100000);
  for (void*& p : blocks) p = heap.allocate(16, 8).data;
  for (void* p : blocks) heap.deallocate(p, 16, 8);
  EXPECT_FALSE(heap.validate());
  EXPECT_EQ(heap.statistics(), (pool_statistics{16, blocks.size(), blocks.size()}));
}

#if MALLARD_CHECKS >= 2
TEST(PoolDeathTest, APointerThatIsNoneOfItsBlocksIsFoundWhereManyBlocksEnd) {
  alignas(16) std::byte foreign[16];
  EXPECT_DEATH(
      {
        pool heap(16);
        (void)heap.allocate(16, 8);
        heap.deallocate(foreign, 16, 8);
      },
      "validate");
}
#endif

TEST(Pool, TakesAPlainNumberThroughAFacadeWithoutAWarning) {
  const resource<pool> facade(48);
  EXPECT_EQ(facade.heap().block_size(), 48u);
}

TEST(Pool, WorksInABufferUntilItIsFull) {
  alignas(16) std::byte buffer[4096];
  basic_pool<fixed_buffer> heap(64, 16, buffer, sizeof buffer);
  std::size_t blocks = 0;
  while (heap.allocate(64, 16)) ++blocks;
  EXPECT_GT(blocks, 55u);
  EXPECT_FALSE(heap.validate());
}

}  // namespace
}  // namespace mallard
