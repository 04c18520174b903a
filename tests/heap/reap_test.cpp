#include "mallard/heap/reap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "mallard/core/growth.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

static_assert(nestable<reap> && clearable<reap> && releasable<reap> && trimmable<reap> && freeable<reap> &&
              measurable<reap> && owning<reap> && expandable<reap> && shrinkable<reap> &&
              burst_of_sizes<reap> && inspectable<reap>);
static_assert(std::is_default_constructible_v<reap> && !std::is_copy_constructible_v<reap>);
static_assert(heap_name<reap> == "reap");
static_assert(concurrent<locked<reap>> && freeable<locked<reap>> && clearable<locked<reap>>);

std::byte* bytes(block b) { return static_cast<std::byte*>(b.data); }

TEST(Reap, HoldsNothingBeforeItsFirstBlockAndBeginsSmall) {
  basic_reap<failing<default_source>> heap;
  EXPECT_EQ(heap.upstream().requests(), 0u);
  EXPECT_TRUE(heap.allocate(1, 1));
  EXPECT_EQ(heap.usage().held, 8192u);
}

TEST(Reap, BumpsWithATagBetweenBlocks) {
  reap heap;
  std::byte* last = bytes(heap.allocate(40, 8));
  for (int i = 0; i < 20; ++i) {
    std::byte* const next = bytes(heap.allocate(40, 8));
    EXPECT_EQ(next, last + 48);
    last = next;
  }
  EXPECT_EQ(heap.usable_size(last), 40u);
}

// A reap that lives shortly costs the pages of its blocks, and no others.
TEST(Reap, TouchesNothingBehindWhatItBumps) {
  alignas(4096) static std::array<std::byte, 16384> memory;
  memory.fill(std::byte{0xa5});
  {
    basic_reap<fixed_buffer> heap(memory.data(), memory.size());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(heap.allocate(40, 8));
    EXPECT_EQ(std::count(memory.begin() + 2048, memory.begin() + 8192, std::byte{0xa5}), 8192 - 2048);
    EXPECT_FALSE(heap.validate()) << "what looks at all blocks finds the chunk's end";
  }
}

TEST(Reap, AFreedBlockServesTheNextRequestOfItsSize) {
  reap heap;
  void* const first = heap.allocate(40, 8).data;
  static_cast<void>(heap.allocate(40, 8));
  heap.deallocate(first);
  EXPECT_EQ(heap.allocate(40, 8).data, first);
}

TEST(Reap, WhatNeighboursLeaveServesALargerOne) {
  reap heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 4000; ++i) blocks.push_back(heap.allocate(40, 8).data);
  const std::size_t held = heap.usage().held;
  for (void* const p : blocks) heap.deallocate(p);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(heap.allocate(120, 8));
  EXPECT_LE(heap.usage().held, held);
}

// Each hole is filled, and a block lies behind the one before again.
TEST(Reap, GoesBackToBumpingWhenWhatWasFreedIsUsed) {
  reap heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 30; ++i) blocks.push_back(heap.allocate(40, 8).data);
  for (const std::size_t i : {3u, 7u, 11u}) heap.deallocate(blocks[i]);
  for (int i = 0; i < 3; ++i) EXPECT_LT(heap.allocate(40, 8).data, blocks.back());
  std::byte* last = static_cast<std::byte*>(blocks.back());
  for (int i = 0; i < 30; ++i) {
    std::byte* const next = bytes(heap.allocate(40, 8));
    EXPECT_EQ(next, last + 48);
    last = next;
  }
}

// A hole that fits is found within a short run, however long it has been bumped before the free.
TEST(Reap, AFreeStopsTheBumping) {
  reap heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(heap.allocate(40, 8).data);
  heap.deallocate(blocks[50]);
  static_cast<void>(heap.allocate(200, 8));
  EXPECT_EQ(heap.allocate(40, 8).data, blocks[50]);
}

TEST(Reap, BumpsFromTheBeginAfterAClear) {
  reap heap;
  std::byte* const first = bytes(heap.allocate(40, 8));
  for (int i = 0; i < 10; ++i) heap.deallocate(heap.allocate(100, 8).data);
  heap.clear();
  EXPECT_EQ(heap.usage().granted, 0u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(bytes(heap.allocate(40, 8)), first + i * 48);
}

TEST(Reap, AChildIsClearedWithItsParentOrLivesOn) {
  reap parent;
  reap cleared(parent, nesting::cleared_with_parent);
  reap kept(parent, nesting::ends_with_parent);
  for (reap* const heap : {&parent, &cleared, &kept}) {
    heap->deallocate(heap->allocate(100, 8).data);
    ASSERT_TRUE(heap->allocate(50, 8));
  }
  parent.clear();
  EXPECT_EQ(cleared.usage().granted, 0u);
  EXPECT_NE(kept.usage().granted, 0u);
}

using heap_type =
    clear_optimized<with_slabs<basic_best_fit<default_source, doubling<65536, 65536>>, reap_least_slabs>>;

TEST(ClearOptimized, WhatIsBumpedIsWholeAtEveryLook) {
  heap_type heap;
  for (std::size_t i = 1; i < 300; ++i) {
    ASSERT_TRUE(heap.allocate(i % 100, 8));
    ASSERT_FALSE(heap.validate());
  }
  EXPECT_GE(heap.usage().granted, 299u * 50 - 5000);
}

TEST(ClearOptimized, ABlockThatIsBumpedGrowsWhereItIs) {
  heap_type heap;
  void* const p = heap.allocate(40, 8).data;
  const resize_result grown = heap.resize({p, 40, 8, 4000, 4000, resize_way::expand_forward});
  EXPECT_TRUE(grown.reused);
  EXPECT_EQ(grown.memory.data, p);
  EXPECT_GE(bytes(heap.allocate(40, 8)), static_cast<std::byte*>(p) + 4000);
}

// Holes of a size that nobody asks for are left alone, and the heap bumps past them.
TEST(ClearOptimized, BumpsPastHolesThatNobodyWants) {
  heap_type heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(heap.allocate(40, 8).data);
  for (std::size_t i = 0; i < 40; i += 2) heap.deallocate(blocks[i]);
  std::byte* last = nullptr;
  for (int i = 0; i < 50; ++i) {
    std::byte* const next = bytes(heap.allocate(104, 8));
    EXPECT_TRUE(last == nullptr || next == last + 112);
    last = next;
  }
  int bumped = 0;
  while (heap.allocate(40, 8).data > blocks.back()) ++bumped;
  EXPECT_LE(bumped, 4096 / 48) << "what is wanted is found, a run later at most";
}

TEST(ClearOptimized, BeginsInTheFirstChunkAfterEachClear) {
  heap_type heap;
  std::byte* const first = bytes(heap.allocate(40, 8));
  for (int i = 0; i < 5; ++i) {
    heap.clear();
    EXPECT_EQ(heap.usage(), (heap_usage{65536, 0, 0}));
    EXPECT_EQ(bytes(heap.allocate(100, 8)), first);
    if (i % 2 == 0) heap.deallocate(first);
    EXPECT_FALSE(heap.validate());
  }
  heap.clear();
  EXPECT_EQ(heap.trim(0), 65536u) << "what is bumped in goes back";
  EXPECT_TRUE(heap.allocate(100, 8));
}

TEST(ClearOptimized, BurstsComeBetween) {
  heap_type heap;
  std::byte* const first = bytes(heap.allocate(40, 8));
  chain burst;
  ASSERT_TRUE(heap.allocate_burst(burst, 10, 40, 8, 0));
  std::byte* const last = bytes(heap.allocate(40, 8));
  EXPECT_EQ(last, first + 11 * 48);
  heap.deallocate_burst(burst);
  EXPECT_FALSE(heap.validate());
}

}  // namespace
}  // namespace mallard
