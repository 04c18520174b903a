#include "mallard/heap/sized_reap/headerless.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "mallard/core/growth.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {
namespace {

using heap_type = headerless<default_source, doubling<65536, 65536>>;

TEST(Headerless, RoundsTheSameForAllSizesOfABlock) {
  for (const std::size_t align : {1u, 8u, 16u, 64u})
    for (std::size_t size = 0; size < 4096; ++size) {
      const std::size_t received = heap_type::rounded(size, align);
      EXPECT_GE(received, size);
      EXPECT_LE(received, size + (size < 1000 ? 16 : 32 + size / 16));
      EXPECT_EQ(heap_type::rounded(received, align), received);
    }
}

TEST(Headerless, WhatAnAlignmentLeavesServesOthers) {
  heap_type heap;
  void* const odd = heap.allocate(8, 8);
  void* const aligned = heap.allocate(64, 64);
  EXPECT_TRUE(is_aligned(aligned, 64));
  heap.deallocate(heap.allocate(8, 8), 8);
  void* const between = heap.allocate(16, 8);
  EXPECT_GT(between, odd);
  EXPECT_LT(between, aligned);
  EXPECT_FALSE(heap.validate());
}

// Of blocks of a word, whatever the order in which they were freed.
TEST(Headerless, WhatTouchesServesLargerRequestsTogether) {
  heap_type heap;
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 100000; ++i) blocks.push_back(static_cast<std::byte*>(heap.allocate(8, 8)));
  std::byte* const kept = blocks[50000];
  blocks.erase(blocks.begin() + 50000);
  const std::size_t held = heap.usage().held;
  std::ranges::shuffle(blocks, std::mt19937(7));
  for (std::byte* p : blocks) heap.deallocate(p, 8);
  std::size_t received = 0;
  while (received < std::size_t{8} * 80000) {
    auto* const p = static_cast<std::byte*>(heap.allocate(4000, 16));
    EXPECT_FALSE(p <= kept && kept < p + 4000);
    received += 4000;
  }
  EXPECT_LE(heap.usage().held, held);
  EXPECT_FALSE(heap.validate());
}

// More of them than an index has entries.
TEST(Headerless, ManyChunksAreToldApart) {
  headerless<default_source, doubling<4096, 4096>> heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 200000; ++i) blocks.push_back(heap.allocate(24, 8));
  const std::size_t held = heap.usage().held;
  ASSERT_GT(held, 1000 * 4096u);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i % 1000 != 0) heap.deallocate(blocks[i], 24);
  EXPECT_GT(heap.trim(0), held / 2);
  EXPECT_FALSE(heap.validate());
  EXPECT_EQ(heap.usage().granted, 200 * 24u);
}

TEST(Headerless, BumpsPastHolesThatNobodyWants) {
  heap_type heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(heap.allocate(40, 8));
  for (std::size_t i = 0; i < 40; i += 2) heap.deallocate(blocks[i], 40);
  std::byte* last = nullptr;
  for (int i = 0; i < 50; ++i) {
    auto* const next = static_cast<std::byte*>(heap.allocate(104, 8));
    EXPECT_TRUE(last == nullptr || next == last + 104);
    last = next;
  }
}

TEST(Headerless, ALargeHeapWhoseLastBlockIsFreedBumpsThroughItsChunksAgain) {
  headerless<default_source, doubling<65536, 65536>, 1 << 20> heap;
  for (const std::size_t count : {100u, 40000u}) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i) blocks.push_back(heap.allocate(40, 8));
    std::ranges::shuffle(blocks, std::mt19937(7));
    for (void* p : blocks) heap.deallocate(p, 40);
    EXPECT_EQ(heap.usage().granted, 0u);
    EXPECT_FALSE(heap.validate());
    const std::size_t held = heap.usage().held;
    std::size_t in_order = 0;
    std::byte* last = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      auto* const next = static_cast<std::byte*>(heap.allocate(40, 8));
      in_order += static_cast<std::size_t>(last != nullptr && next == last + 40);
      last = next;
    }
    EXPECT_EQ(heap.usage().held, held);
    EXPECT_EQ(in_order > count - count / 50, count == 40000) << in_order;
    heap.clear();
  }
}

TEST(Headerless, AChunkThatIsFreeAsAWholeGoesBack) {
  heap_type heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 10000; ++i) blocks.push_back(heap.allocate(40, 8));
  for (std::size_t i = 1; i < blocks.size(); ++i) heap.deallocate(blocks[i], 40);
  EXPECT_GE(heap.trim(0), 4 * 65536u);
  EXPECT_EQ(heap.usage().held, 65536u) << "one block lives";
  EXPECT_EQ(heap.usage().granted, 40u);
  heap.clear();
  EXPECT_EQ(heap.trim(65536), 0u);
  EXPECT_EQ(heap.trim(0), 65536u);
}

TEST(Headerless, BumpsAfterAClearInWhatATrimKeeps) {
  heap_type heap;
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 3000; ++i) blocks.push_back(static_cast<std::byte*>(heap.allocate(40, 8)));
  heap.deallocate(blocks[0], 40);
  heap.clear();
  EXPECT_EQ(heap.trim(65536), 65536u) << "one of two";
  EXPECT_TRUE(heap.is_bumping());
  EXPECT_EQ(heap.allocate(40, 8), blocks[0]);
  EXPECT_EQ(heap.allocate(16, 8), blocks[0] + 40) << "a size that was not freed before";
  EXPECT_EQ(heap.usage().granted, 56u);
  EXPECT_FALSE(heap.validate());
}

// The cursor is at the begin of the only chunk again, but something lives behind it.
TEST(Headerless, ATrimKeepsWhatLivesBehindTheCursor) {
  heap_type heap;
  void* const first = heap.allocate(2048, 8);
  void* const second = heap.allocate(40, 8);
  heap.deallocate(first, 2048);
  while (heap.allocate(1000, 8) < second) {
  }
  heap.trim(0);
  EXPECT_FALSE(heap.validate());
  EXPECT_TRUE(heap.owns(second));
  for (int i = 0; i < 100; ++i) EXPECT_NE(heap.allocate(40, 8), second);
}

// Where a chunk was used up to its end while it bumped, nothing has opened the lists yet.
TEST(Headerless, TakesBlocksBackFromFullChunksThatWereBumped) {
  heap_type heap;
  constexpr std::size_t large = heap_type::rounded(31000, 16);
  constexpr std::size_t rest =
      64480 - 2 * large;  // of 65536 bytes less a header, and less a 64th for the map
  void* const first = heap.allocate(large, 16);
  void* const second = heap.allocate(large, 16);
  void* const last = heap.allocate(rest, 8);
  EXPECT_EQ(heap.usage().held, 65536u);
  heap.trim(0);
  EXPECT_FALSE(heap.validate());
  heap.deallocate(first, large);
  heap.deallocate(second, large);
  heap.deallocate(last, rest);
  EXPECT_FALSE(heap.validate());
  EXPECT_EQ(heap.trim(0), 65536u);
}

// Chunks of any age lie between free pieces that are as large, and are none.
TEST(Headerless, OfManyChunksThoseThatAreFreeAsAWholeGoBack) {
  headerless<default_source, doubling<4096, 4096>, headerless_least_anew, max_request> heap;
  constexpr std::size_t chunks = 500;
  constexpr std::size_t size = 1040;  // three of them leave a chunk no room for another
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 3 * chunks; ++i) blocks.push_back(heap.allocate(size, 8));
  const std::size_t held = heap.usage().held;
  ASSERT_EQ(held, chunks * 4096);
  for (std::size_t i = 0; i < chunks; ++i) {
    if (i % 5 != 0) heap.deallocate(blocks[3 * i], size);
    if (i % 5 != 1) heap.deallocate(blocks[3 * i + 1], size);
    if (i % 5 > 1) heap.deallocate(blocks[3 * i + 2], size);
  }
  EXPECT_EQ(heap.trim(100 * 4096), held / 5 * 3 - 100 * 4096);
  EXPECT_EQ(heap.trim(0), 100 * 4096u);
  EXPECT_EQ(heap.usage().held, held / 5 * 2);
  EXPECT_EQ(heap.trim(0), 0u);
  EXPECT_FALSE(heap.validate());
}

}  // namespace
}  // namespace mallard
