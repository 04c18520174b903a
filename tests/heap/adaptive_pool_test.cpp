#include "mallard/heap/adaptive_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <set>
#include <type_traits>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/layer/stats.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

static_assert(heap<adaptive_pool> && layered<adaptive_pool> && fixed_size<adaptive_pool> &&
              releasable<adaptive_pool> && clearable<adaptive_pool> && trimmable<adaptive_pool> &&
              predictable<adaptive_pool> && owning<adaptive_pool> && inspectable<adaptive_pool> &&
              burst<adaptive_pool> && freeable<adaptive_pool> && measurable<adaptive_pool>);
static_assert(std::is_default_constructible_v<adaptive_pool> && !std::is_copy_constructible_v<adaptive_pool>);
static_assert(!resizable<adaptive_pool> && !concurrent<adaptive_pool>);

template <class Pool>
std::vector<void*> fill(Pool& pool, std::size_t count, std::size_t size = 24) {
  std::vector<void*> blocks(count);
  for (void*& p : blocks) p = pool.allocate(size, 8).data;
  return blocks;
}

template <class Pool>
void free_all(Pool& pool, const std::vector<void*>& blocks) {
  for (void* p : blocks) pool.deallocate(p, 24, 8);
}

TEST(AdaptivePool, HoldsNothingBeforeItsFirstBlock) {
  adaptive_pool heap(24, 8);
  EXPECT_EQ(heap.upstream().held(), 0u);
  EXPECT_TRUE(heap.allocate(24, 8));
  EXPECT_LE(heap.upstream().held(), 12288u);
}

TEST(AdaptivePool, TakesNothingForABlockButABit) {
  adaptive_pool heap(24, 8);
  constexpr std::size_t count = 100000;
  const std::vector<void*> blocks = fill(heap, count);
  EXPECT_LE(heap.statistics().carved * 24, heap.upstream().held());
  std::size_t slabs = 0;
  for (std::size_t i = 1; i < count; ++i)
    slabs += static_cast<std::size_t>(static_cast<std::byte*>(blocks[i]) !=
                                      static_cast<std::byte*>(blocks[i - 1]) + 24);
  EXPECT_LE(slabs * 336, 2 * count + 1000) << "blocks follow each other up to a header or a slab's end";
}

TEST(AdaptivePool, GivesMemoryBackWhileItIsFreed) {
  for (const bool at_random : {false, true}) {
    adaptive_pool heap(24, 8);
    std::vector<void*> blocks = fill(heap, 100000);
    const std::size_t most = heap.upstream().held();
    if (at_random) std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
    free_all(heap, blocks);
    EXPECT_LE(heap.upstream().held(), most / 4);
    const std::size_t held = heap.upstream().held();
    EXPECT_EQ(heap.trim(0), held);
    EXPECT_EQ(heap.upstream().held(), 0u);
    EXPECT_FALSE(heap.validate());
  }
}

TEST(AdaptivePool, KeepsWhatAHotListNeeds) {
  adaptive_pool heap(24, 8);
  free_all(heap, fill(heap, 2000));
  heap.upstream().reset_max_held();
  const std::size_t held = heap.upstream().held();
  for (int turn = 0; turn < 100; ++turn) free_all(heap, fill(heap, 2000));
  EXPECT_EQ(heap.upstream().max_held(), held);
}

TEST(AdaptivePool, FillsFullerSlabsFirst) {
  adaptive_pool heap(24, 8);
  const std::vector<void*> blocks = fill(heap, 100000);
  std::size_t one_of_ten = 0;
  std::vector<void*> rest;
  // The first half of memory loses one block in ten, the second nine.
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if ((i % 10 == 0) == (i < blocks.size() / 2)) {
      heap.deallocate(blocks[i], 24, 8);
      one_of_ten += static_cast<std::size_t>(i < blocks.size() / 2);
    } else {
      rest.push_back(blocks[i]);
    }
  }
  const std::vector<void*> added = fill(heap, one_of_ten - 400);
  const auto [least, most] = std::minmax_element(blocks.begin(), blocks.begin() + 50000);
  const auto in_fuller =
      std::count_if(added.begin(), added.end(), [&](void* p) { return *least <= p && p <= *most; });
  EXPECT_GT(in_fuller, static_cast<std::ptrdiff_t>(added.size() * 9 / 10));
  free_all(heap, added);
  free_all(heap, rest);
}

TEST(AdaptivePool, WhatIsAllocatedTogetherLiesTogetherAfterFreesAtRandom) {
  adaptive_pool heap(24, 8);
  std::vector<void*> blocks = fill(heap, 100000);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  for (std::size_t i = 0; i < 90000; ++i) heap.deallocate(blocks[i], 24, 8);
  const std::vector<void*> added = fill(heap, 90000);
  std::size_t near = 0;
  for (std::size_t i = 1; i < added.size(); ++i) {
    const auto step = static_cast<std::byte*>(added[i]) - static_cast<std::byte*>(added[i - 1]);
    near += static_cast<std::size_t>(0 < step && step <= 4096 + 512);
  }
  EXPECT_GT(near, added.size() * 999 / 1000) << "the next block lies a little behind the last one";
}

TEST(AdaptivePool, RefillsALittleAheadOfWhatSurvivedInTheOrderInWhichItWasFilled) {
  adaptive_pool heap(24, 8);
  const std::vector<void*> blocks = fill(heap, 100000);
  std::vector<void*> dying = blocks;
  std::shuffle(dying.begin(), dying.end(), std::mt19937(1));
  dying.resize(90000);
  std::map<void*, std::size_t> rank;  // of those that die, in the order in which they came
  const std::set<void*> dead(dying.begin(), dying.end());
  for (void* p : blocks)
    if (dead.contains(p)) rank.emplace(p, rank.size());
  free_all(heap, dying);
  const std::vector<void*> added = fill(heap, 90000);
  std::size_t a_little_ahead = 0;
  for (std::size_t i = 0; i < added.size(); ++i)
    if (const auto found = rank.find(added[i]); found != rank.end())
      a_little_ahead += static_cast<std::size_t>(i <= found->second && found->second < i + 1000);
  EXPECT_GT(a_little_ahead, 89000u);
}

TEST(AdaptivePool, CutsABurstStraightFromASlab) {
  adaptive_pool heap(24, 8);
  chain blocks;
  ASSERT_TRUE(heap.allocate_burst(blocks, 1000, 24, 8, 0));
  EXPECT_EQ(blocks.size(), 1000u);
  std::size_t adjacent = 0;
  for (const void* p = blocks.front(); chain::next(p) != nullptr; p = chain::next(p))
    adjacent += static_cast<std::size_t>(chain::next(p) == static_cast<const std::byte*>(p) + 24);
  EXPECT_GT(adjacent, 980u);
  heap.deallocate_burst(blocks, 24, 8);
  EXPECT_EQ(heap.statistics().live(), 0u);
}

TEST(AdaptivePool, CountsWhatIsLiveFreeAndIdle) {
  adaptive_pool heap(24, 8);
  const std::vector<void*> blocks = fill(heap, 1000);
  for (std::size_t i = 0; i < 100; ++i) heap.deallocate(blocks[7 * i], 24, 8);
  const pool_statistics found = heap.statistics();
  EXPECT_EQ(found.block_size, 24u);
  EXPECT_EQ(found.live(), 900u);
  EXPECT_EQ(heap.usage().granted, 900u * 24);
  EXPECT_EQ(heap.usage().held, heap.upstream().held());
  EXPECT_LE(found.carved * 24 + heap.idle(), heap.upstream().held());
}

TEST(AdaptivePool, TrimKeepsLiveBlocksAndWhatItIsTold) {
  adaptive_pool heap(24, 8);
  const std::vector<void*> blocks = fill(heap, 10000);
  for (std::size_t i = 1; i < blocks.size(); ++i) heap.deallocate(blocks[i], 24, 8);
  heap.trim(65536);
  EXPECT_LE(heap.idle(), 65536u);
  heap.trim(0);
  EXPECT_EQ(heap.idle(), 0u);
  EXPECT_GT(heap.upstream().held(), 0u);
  EXPECT_EQ(heap.statistics().live(), 1u);
  heap.deallocate(blocks[0], 24, 8);
  heap.trim(0);
  EXPECT_EQ(heap.upstream().held(), 0u);
}

TEST(AdaptivePool, AnExplicitNumberOfFreeBlocksIsKeptAndNoMore) {
  basic_adaptive_pool<default_source, slab_form<256, 2>> heap(24, 8);
  free_all(heap, fill(heap, 100000));
  EXPECT_LE(heap.upstream().held(), 300000u) << "the slab in use, and its chunk";
  heap.trim(0);
  EXPECT_EQ(heap.upstream().held(), 0u);
}

TEST(AdaptivePool, PiecesNeedLessAlignment) {
  alignas(2048) static std::byte buffer[40960];
  basic_adaptive_pool<fixed_buffer, slab_form<256, 0, 2>> heap(24, 8, buffer, sizeof buffer);
  std::size_t blocks = 0;
  while (heap.allocate(24, 8)) ++blocks;
  EXPECT_GT(blocks * 24, sizeof buffer * 3 / 4);
  EXPECT_FALSE(heap.validate());
}

TEST(AdaptivePool, ASizeThatNoSlabHoldsServesNothing) {
  for (adaptive_pool heap(SIZE_MAX, 16);
       const std::size_t size : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
    EXPECT_FALSE(heap.allocate(size, 1));
    EXPECT_EQ(heap.received_size(size, 1), 0u);
    EXPECT_FALSE(heap.validate());
  }
}

TEST(AdaptivePool, ClearKeepsItsChunksAndReleaseNone) {
  adaptive_pool heap(24, 8);
  (void)fill(heap, 10000);
  const std::size_t held = heap.upstream().held();
  heap.clear();
  EXPECT_EQ(heap.upstream().held(), held);
  (void)fill(heap, 10000);
  EXPECT_EQ(heap.upstream().held(), held);
  heap.release();
  EXPECT_EQ(heap.upstream().held(), 0u);
  EXPECT_EQ(heap.block_size(), 24u);
}

template <class Layer>
basic_adaptive_pool<Layer>& filled_and_trimmed(basic_adaptive_pool<Layer>& pool) {
  process_chunks().trim(0);
  const std::size_t mapped = process_chunks().mapped();
  free_all(pool, fill(pool, 10000));
  EXPECT_GT(pool.trim(0), 0u);
  EXPECT_EQ(process_chunks().mapped(), mapped);
  return pool;
}

TEST(AdaptivePool, IsTrimmedToTheSystemThroughLayers) {
  basic_adaptive_pool<locked<default_source>> over_locked(24, 8);
  basic_adaptive_pool<limited<default_source>> over_limited(24, 8);
  basic_adaptive_pool<stats<default_source>> over_stats(24, 8);
  basic_adaptive_pool<failing<default_source>> over_failing(24, 8);
  basic_adaptive_pool<shared_upstream<default_source>> over_shared(24, 8);
  EXPECT_EQ(filled_and_trimmed(over_locked).upstream().held(), 0u);
  EXPECT_EQ(filled_and_trimmed(over_limited).upstream().out(), 0u);
  const heap_statistics counted = filled_and_trimmed(over_stats).upstream().statistics();
  EXPECT_EQ(counted.deallocations, counted.requests);
  EXPECT_EQ(counted.received.live, 0u);
  EXPECT_EQ(filled_and_trimmed(over_failing).upstream().held(), 0u);
  EXPECT_EQ(filled_and_trimmed(over_shared).upstream().upstream().held(), 0u);
  static_assert(!caching<locked<fixed_buffer>> && !caching<limited<os_pages>> && !caching<stats<os_pages>> &&
                !caching<failing<os_pages>>);
}

TEST(AdaptivePoolWithoutASize, TakesThatOfItsFirstRequest) {
  adaptive_pool heap;
  EXPECT_EQ(heap.received_size(20, 8), 24u);
  EXPECT_EQ(heap.allocate(20, 8).size, 24u);
  EXPECT_FALSE(heap.allocate(25, 8));
  EXPECT_FALSE(heap.allocate(24, 16));
  heap.clear();
  EXPECT_FALSE(heap.allocate(48, 8));
  heap.release();
  EXPECT_EQ(heap.allocate(48, 8).size, 48u);
}

TEST(AdaptivePoolWithoutASize, StaysUndecidedWhereItsFirstRequestFails) {
  basic_adaptive_pool<failing<default_source>> heap;
  heap.upstream().fail_from(1);
  EXPECT_FALSE(heap.allocate(24, 8));
  EXPECT_FALSE(heap.allocate(SIZE_MAX, 8));
  EXPECT_EQ(heap.block_size(), 0u);
  heap.upstream().fail_no_more();
  EXPECT_EQ(heap.allocate(48, 8).size, 48u);
}

TEST(AdaptivePoolWithoutASize, StaysUndecidedWhereItsFirstBurstFails) {
  basic_adaptive_pool<failing<default_source>> heap;
  heap.upstream().fail_from(2);
  chain out;
  EXPECT_FALSE(heap.allocate_burst(out, 10000, 48, 8, 0));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(heap.block_size(), 0u);
  EXPECT_EQ(heap.upstream().held(), 0u);
  heap.upstream().fail_no_more();
  EXPECT_EQ(heap.allocate(100, 8).size, 104u);
}

TEST(AdaptivePoolWithoutASize, ServesAContainerOfNodes) {
  adaptive_pool heap;
  std::list<int, allocator<int, adaptive_pool>> list(heap);
  for (int i = 0; i < 1000; ++i) list.push_back(i);
  EXPECT_EQ(heap.statistics().live(), 1000u);
  list.clear();
  EXPECT_EQ(heap.statistics().live(), 0u);
  const resource<adaptive_pool> facade(48);
  EXPECT_EQ(facade.heap().block_size(), 48u);
}

#if MALLARD_CHECKS >= 2
TEST(AdaptivePoolDeathTest, ABlockThatIsFreedTwiceIsFoundAtOnce) {
  adaptive_pool heap(24, 8);
  void* const p = heap.allocate(24, 8).data;
  heap.deallocate(p, 24, 8);
  EXPECT_DEATH(heap.deallocate(p, 24, 8), "check failed");
}
#endif

}  // namespace
}  // namespace mallard
