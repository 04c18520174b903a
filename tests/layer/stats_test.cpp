#include "mallard/layer/stats.hpp"

#include <gtest/gtest.h>

#include <memory_resource>
#include <vector>

#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

static_assert(releasable<stats<multipool>> && clearable<stats<multipool>> && predictable<stats<multipool>>);
static_assert(resizable<stats<monotonic>> && !rewindable<stats<monotonic>> && !resizable<stats<multipool>>);
static_assert(burst<stats<multipool>> && burst<stats<best_fit>>);
static_assert(stats<multipool>::counts_received && !concurrent<stats<multipool>>);

TEST(Stats, CountsRequestsFailuresAndDeallocations) {
  stats<failing<multipool>> heap;
  const block a = heap.allocate(100, 8);
  heap.upstream().fail_at(1);
  EXPECT_FALSE(heap.allocate(100, 8));
  const block b = heap.allocate(10, 8);
  heap.deallocate(a.data, 100, 8);
  heap_statistics found = heap.statistics();
  EXPECT_EQ(found.requests, 3u);
  EXPECT_EQ(found.failures, 1u);
  EXPECT_EQ(found.deallocations, 1u);
  EXPECT_EQ(found.blocks, (counters{1, 2, 2}));
  EXPECT_EQ(found.requested, (counters{10, 110, 110}));
  EXPECT_EQ(found.received, (counters{b.size, a.size + b.size, a.size + b.size}));
  heap.deallocate(b.data, 10, 8);
}

TEST(Stats, KnowsReceivedBytesWhateverSizeComesBack) {
  stats<multipool> heap;
  for (const std::size_t size : {1u, 100u, 5000u, 200000u}) {
    const block b = heap.allocate(size, 8);
    EXPECT_EQ(heap.statistics().received.live, b.size);
    heap.deallocate(b.data, size % 2 == 0 ? b.size : size, 8);
    EXPECT_EQ(heap.statistics().received.live, 0u);
    EXPECT_EQ(heap.statistics().requested.live, 0u);
  }
}

TEST(Stats, SaysWhereItCannotTellReceivedBytes) {
  struct silent {
    block allocate(std::size_t size, std::size_t align) noexcept { return below.allocate(size, align); }
    void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
      below.deallocate(p, size, align);
    }
    multipool below;
  };
  static_assert(!stats<silent>::counts_received);
  stats<silent> heap;
  const block b = heap.allocate(100, 8);
  EXPECT_EQ(heap.statistics().received, counters{});
  EXPECT_EQ(heap.statistics().requested, (counters{100, 100, 100}));
  heap.deallocate(b.data, 100, 8);
}

TEST(Stats, LetsThePeaksStartAgain) {
  stats<multipool> heap;
  const block a = heap.allocate(64, 8);
  const block b = heap.allocate(64, 8);
  heap.deallocate(b.data, 64, 8);
  heap.reset_peak();
  const heap_statistics found = heap.statistics();
  EXPECT_EQ(found.blocks, (counters{1, 1, 2}));
  EXPECT_EQ(found.requested, (counters{64, 64, 128}));
  EXPECT_EQ(found.received, (counters{64, 64, 128}));
  heap.deallocate(a.data, 64, 8);
}

TEST(Stats, EndsAllBlocksWithReleaseAndClear) {
  stats<multipool> heap;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(heap.allocate(64, 8));
    round == 0 ? heap.clear() : heap.release();
    EXPECT_EQ(heap.statistics().blocks.live, 0u);
    EXPECT_EQ(heap.statistics().requested.live, 0u);
    EXPECT_EQ(heap.statistics().received.live, 0u);
  }
  EXPECT_EQ(heap.statistics().deallocations, 0u);
  EXPECT_EQ(heap.upstream().usage().held, 0u);
}

TEST(Stats, FollowsABlockThatChangesItsSize) {
  stats<monotonic> heap;
  const block b = heap.allocate(100, 8);
  EXPECT_TRUE(heap.resize({b.data, 100, 8, 150, 200, resize_way::expand_forward}).reused);
  EXPECT_EQ(heap.statistics().requested, (counters{200, 200, 200}));
  EXPECT_TRUE(heap.resize({b.data, 200, 8, 50, 50, resize_way::shrink}).reused);
  EXPECT_EQ(heap.statistics().received, (counters{50, 200, 200}));
  EXPECT_EQ(heap.statistics().requested, (counters{50, 200, 200}));
  EXPECT_EQ(heap.statistics().requests, 1u);
  ASSERT_TRUE(heap.allocate(1, 1));
  EXPECT_FALSE(heap.resize({b.data, 50, 8, 300, 300, resize_way::allocate_new}).reused);
  EXPECT_EQ(heap.statistics().requests, 3u);
  EXPECT_EQ(heap.statistics().blocks, (counters{3, 3, 3}));
  EXPECT_FALSE(heap.resize({b.data, 50, 8, 80, 80, resize_way::expand_forward}).memory);
  EXPECT_FALSE(
      heap.resize({b.data, 50, 8, max_request + 1, max_request + 1, resize_way::allocate_new}).memory);
  EXPECT_EQ(heap.statistics().requests, 4u);
  EXPECT_EQ(heap.statistics().failures, 1u);
}

// As a caller that knows only its address asks for it.
TEST(Stats, FollowsABlockWhoseSizeTheHeapKnows) {
  stats<best_fit> heap;
  const block b = heap.allocate(1000, 8);
  EXPECT_TRUE(heap.resize({b.data, unknown_size, 8, 104, 104, resize_way::shrink}).reused);
  EXPECT_EQ(heap.statistics().received.live, 104u);
  EXPECT_EQ(heap.statistics().requested.live, 104u);
}

TEST(Stats, CountsABurstAsItsBlocks) {
  stats<failing<multipool>> heap;
  chain blocks;
  ASSERT_TRUE(heap.allocate_burst(blocks, 10, 20, 8, 0));
  EXPECT_EQ(heap.statistics().requests, 10u);
  EXPECT_EQ(heap.statistics().blocks, (counters{10, 10, 10}));
  EXPECT_EQ(heap.statistics().requested, (counters{200, 200, 200}));
  EXPECT_EQ(heap.statistics().received, (counters{240, 240, 240}));
  heap.upstream().fail_at(1);
  EXPECT_FALSE(heap.allocate_burst(blocks, 5, 20, 8, 0));
  EXPECT_EQ(heap.statistics().failures, 5u);
  heap.deallocate(blocks.pop_front(), 20, 8);
  heap.deallocate_burst(blocks, 20, 8);
  EXPECT_EQ(heap.statistics().deallocations, 10u);
  EXPECT_EQ(heap.statistics().blocks.live + heap.statistics().received.live, 0u);
}

TEST(Stats, CountsABurstOfAHeapThatKnowsItsBlocks) {
  stats<best_fit> heap;
  chain blocks;
  ASSERT_TRUE(heap.allocate_burst(blocks, 10, 20, 8, 0));
  EXPECT_EQ(heap.statistics().received, (counters{240, 240, 240}));
  ASSERT_TRUE(heap.allocate_burst(blocks, 5, 30, 8, 0)) << "behind those of before";
  EXPECT_EQ(heap.statistics().blocks, (counters{15, 15, 15}));
  EXPECT_EQ(heap.statistics().requested, (counters{350, 350, 350}));
  EXPECT_EQ(heap.statistics().received, (counters{440, 440, 440}));
  chain first;
  for (int i = 0; i < 10; ++i) first.push_back(blocks.pop_front());
  heap.deallocate_burst(first, 20, 8);
  heap.deallocate_burst(blocks, 30, 8);
  EXPECT_EQ(heap.statistics().deallocations, 15u);
  EXPECT_EQ(heap.statistics().requested.live + heap.statistics().received.live, 0u);
}

TEST(Stats, TellsWhatAContainerAskedFor) {
  resource<stats<multipool>> memory;
  {
    std::pmr::vector<int> numbers(&memory);
    numbers.reserve(100);
    numbers.reserve(200);
    EXPECT_EQ(memory.heap().statistics().blocks, (counters{1, 2, 2}));
    EXPECT_EQ(memory.heap().statistics().requested, (counters{800, 1200, 1200}));
  }
  EXPECT_EQ(memory.heap().statistics().requested.live, 0u);
  EXPECT_EQ(memory.heap().statistics().deallocations, 2u);
}

TEST(Stats, CountsABlockThatItTellsToBeFresh) {
  stats<os_pages> heap;
  bool is_fresh = false;
  const block b = heap.allocate(100, 8, is_fresh);
  EXPECT_TRUE(is_fresh);
  EXPECT_EQ(heap.statistics().requests, 1u);
  EXPECT_EQ(heap.statistics().received.live, b.size);
  heap.deallocate(b.data, 100, 8);
}

}  // namespace
}  // namespace mallard
