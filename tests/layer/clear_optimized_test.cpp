#include "mallard/layer/clear_optimized.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/growth.hpp"

namespace mallard {
namespace {

using heap_type = clear_optimized<basic_best_fit<default_source, doubling<65536, 65536>>>;

std::byte* bytes(block b) { return static_cast<std::byte*>(b.data); }

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
