#include "mallard/heap/sized_reap.hpp"

#include <gtest/gtest.h>

#include <list>
#include <string>
#include <type_traits>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/resource/resource.hpp"

namespace mallard {
namespace {

static_assert(nestable<sized_reap> && clearable<sized_reap> && releasable<sized_reap> &&
              trimmable<sized_reap> && owning<sized_reap> && inspectable<sized_reap> &&
              predictable<sized_reap>);
static_assert(!freeable<sized_reap> && !measurable<sized_reap>, "nobody but the caller knows a size");
static_assert(std::is_default_constructible_v<sized_reap> && !std::is_copy_constructible_v<sized_reap>);
static_assert(heap_name<sized_reap> == "sized_reap");

std::byte* bytes(block b) { return static_cast<std::byte*>(b.data); }

TEST(SizedReap, HoldsNothingBeforeItsFirstBlockAndBeginsSmall) {
  basic_sized_reap<failing<default_source>> heap;
  EXPECT_EQ(heap.upstream().requests(), 0u);
  EXPECT_TRUE(heap.allocate(1, 1));
  EXPECT_EQ(heap.usage().held, 8192u);
}

TEST(SizedReap, BlocksFollowEachOther) {
  sized_reap heap;
  std::byte* const first = bytes(heap.allocate(8, 8));
  EXPECT_EQ(bytes(heap.allocate(40, 8)), first + 8);
  EXPECT_EQ(bytes(heap.allocate(1, 1)), first + 48);
  EXPECT_EQ(bytes(heap.allocate(8, 8)), first + 56);
}

TEST(SizedReap, AFreedBlockServesTheNextRequestOfItsSize) {
  sized_reap heap;
  void* const first = heap.allocate(40, 8).data;
  static_cast<void>(heap.allocate(40, 8));
  heap.deallocate(first, 33, 8);
  EXPECT_EQ(heap.allocate(36, 8).data, first);
}

TEST(SizedReap, SmallerBlocksAreCutFromAFreedOne) {
  sized_reap heap;
  std::byte* const first = bytes(heap.allocate(64, 8));
  static_cast<void>(heap.allocate(8, 8));
  heap.deallocate(first, 64, 8);
  EXPECT_EQ(bytes(heap.allocate(40, 8)), first);
  EXPECT_EQ(bytes(heap.allocate(24, 8)), first + 40);
}

// Of 8 bytes each, which have no room for their size.
TEST(SizedReap, WhatNeighboursLeaveServesALargerOne) {
  sized_reap heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 20000; ++i) blocks.push_back(heap.allocate(8, 8).data);
  const std::size_t held = heap.usage().held;
  for (void* const p : blocks) heap.deallocate(p, 8, 8);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(heap.allocate(120, 8));
  EXPECT_LE(heap.usage().held, held);
}

TEST(SizedReap, GoesBackToBumpingWhenWhatWasFreedIsUsed) {
  sized_reap heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 30; ++i) blocks.push_back(heap.allocate(40, 8).data);
  for (const std::size_t i : {3u, 7u, 11u}) heap.deallocate(blocks[i], 40, 8);
  for (int i = 0; i < 3; ++i) EXPECT_LT(heap.allocate(40, 8).data, blocks.back());
  std::byte* last = static_cast<std::byte*>(blocks.back());
  for (int i = 0; i < 30; ++i) {
    std::byte* const next = bytes(heap.allocate(40, 8));
    EXPECT_EQ(next, last + 40);
    last = next;
  }
}

TEST(SizedReap, BumpsFromTheBeginAfterAClear) {
  sized_reap heap;
  std::byte* const first = bytes(heap.allocate(40, 8));
  heap.deallocate(heap.allocate(100, 8).data, 100, 8);
  heap.clear();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(bytes(heap.allocate(40, 8)), first + i * 40);
}

TEST(SizedReap, ServesContainersBoundEitherWay) {
  resource<sized_reap> bound_late;
  std::pmr::list<std::pmr::string> late(&bound_late);
  sized_reap heap;
  std::list<int, allocator<int, sized_reap>> early(heap);
  for (int i = 0; i < 1000; ++i) {
    late.emplace_back("a string that is too long to be kept in place");
    early.push_back(i);
    if (i % 3 == 0) late.pop_front();
    if (i % 3 == 0) early.pop_front();
  }
  EXPECT_EQ(late.size(), early.size());
  EXPECT_FALSE(heap.validate());
  EXPECT_FALSE(bound_late.heap().validate());
}

}  // namespace
}  // namespace mallard
