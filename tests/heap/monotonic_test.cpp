#include "mallard/heap/monotonic.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "mallard/layer/failing.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

static_assert(heap<monotonic> && layered<monotonic> && predictable<monotonic>);
static_assert(releasable<monotonic> && clearable<monotonic> && rewindable<monotonic>);
static_assert(owning<monotonic> && inspectable<monotonic>);
static_assert(resizable<monotonic> && expandable<monotonic> && shrinkable<monotonic>);
static_assert(!trimmable<monotonic> && !freeable<monotonic> && !concurrent<monotonic>);
static_assert(std::is_default_constructible_v<monotonic>);
static_assert(!std::is_copy_constructible_v<monotonic> && !std::is_move_constructible_v<monotonic>);

std::byte* bytes_of(const block& b) { return static_cast<std::byte*>(b.data); }

class Monotonic : public testing::Test {
 protected:
  [[nodiscard]] std::size_t held() const { return heap_.upstream().held(); }

  monotonic heap_;
};

TEST(MonotonicHolds, LessThanFourTimesWhatWasAllocatedPaddingIncluded) {
  for (const std::size_t align : {1u, 64u, 4096u, 65536u})
    for (const std::size_t size : {1u, 16u, 5000u, 300000u}) {
      monotonic heap;
      for (std::size_t padded = 0; padded < 4000000;) {
        ASSERT_TRUE(heap.allocate(size, align));
        padded += size + align - 1;
        ASSERT_LT(heap.upstream().held(), 4 * padded + os_pages::page_size()) << size << " at " << align;
      }
    }
}

TEST_F(Monotonic, HoldsNothingBeforeItsFirstBlockAndOnePageAfter) {
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(heap_.allocate(1, 1));
  EXPECT_EQ(held(), os_pages::page_size());
}

TEST_F(Monotonic, BlocksFollowEachOtherWithoutHeaders) {
  const block a = heap_.allocate(24, 8);
  const block b = heap_.allocate(3, 1);
  const block c = heap_.allocate(8, 8);
  EXPECT_EQ(a.size, 24u);
  EXPECT_EQ(b.data, bytes_of(a) + 24);
  EXPECT_EQ(c.data, bytes_of(a) + 32);
}

TEST_F(Monotonic, DeallocateReusesNothing) {
  const block a = heap_.allocate(24, 8);
  heap_.deallocate(a.data, 24, 8);
  EXPECT_NE(heap_.allocate(24, 8).data, a.data);
}

TEST_F(Monotonic, ZeroBytesAreABlockOfTheirOwn) {
  const block a = heap_.allocate(0, 1);
  const block b = heap_.allocate(0, 1);
  EXPECT_EQ(a.size, 1u);
  EXPECT_NE(a.data, b.data);
}

TEST_F(Monotonic, ChunksGrowSoThatManyBytesTakeFewChunks) {
  failing<os_pages> counted_source;
  basic_monotonic<upstream_ref<failing<os_pages>>> heap(counted_source);
  for (int i = 0; i < 1024; ++i) (void)heap.allocate(1024, 8);
  EXPECT_LE(counted_source.requests(), 10u);
}

TEST_F(Monotonic, ClearKeepsTheLargestChunkAndSoonOneServesAWholeCycle) {
  for (int cycle = 0; cycle < 3; ++cycle) {
    heap_.clear();
    for (int i = 0; i < 1000; ++i) (void)heap_.allocate(100, 8);
  }
  heap_.clear();
  const std::size_t kept = held();
  EXPECT_GE(kept, 100000u);
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(100, 8);
  EXPECT_EQ(held(), kept);
  EXPECT_FALSE(heap_.validate());
}

TEST(MonotonicChunks, ClearKeepsTheLargestAndGivesTheOthersBack) {
  basic_monotonic<default_source, doubling<4096, 65536>> heap;
  for (std::size_t chunk = 1; chunk <= 8; chunk *= 2) ASSERT_TRUE(heap.allocate(chunk * 4000, 8));
  EXPECT_EQ(heap.upstream().held(), 4096u + 8192u + 16384u + 32768u);
  heap.clear();
  EXPECT_EQ(heap.upstream().held(), 32768u);
  ASSERT_TRUE(heap.allocate(32000, 8));
  EXPECT_EQ(heap.upstream().held(), 32768u);
}

TEST(MonotonicChunks, RewindKeepsTheMarksOwnAndTheLargestOfTheNewer) {
  basic_monotonic<default_source, doubling<4096, 65536>> heap;
  ASSERT_TRUE(heap.allocate(4000, 8));
  const auto mark = heap.mark();
  for (std::size_t chunk = 2; chunk <= 8; chunk *= 2) ASSERT_TRUE(heap.allocate(chunk * 4000, 8));
  heap.rewind(mark);
  EXPECT_EQ(heap.upstream().held(), 4096u + 32768u);
  ASSERT_TRUE(heap.allocate(32000, 8));
  heap.rewind(mark);
  EXPECT_EQ(heap.upstream().held(), 4096u + 32768u);
  heap.release();
  EXPECT_EQ(heap.upstream().held(), 0u);
}

TEST_F(Monotonic, HoldsAFewTimesWhatWasAllocatedAndKeepsTwice) {
  for (const std::size_t size : {8u, 100u, 3000u, 5000u, 33000u, 1100000u}) {
    std::size_t allocated = 0;
    for (int count = 0; count < 300; ++count) {
      ASSERT_TRUE(heap_.allocate(size, 8));
      allocated += size;
      ASSERT_LE(held(), 4 * allocated + os_pages::page_size()) << size;
    }
    heap_.clear();
    EXPECT_LE(held(), 2 * allocated + os_pages::page_size()) << size;
    heap_.release();
  }
}

TEST_F(Monotonic, ReleaseKeepsNothing) {
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(100, 8);
  heap_.release();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(heap_.usage(), (heap_usage{}));
  EXPECT_FALSE(heap_.validate());
  EXPECT_TRUE(heap_.allocate(100, 8));
}

TEST_F(Monotonic, RewindEndsWhatIsYoungerThanTheMark) {
  const block old = heap_.allocate(40, 8);
  *bytes_of(old) = std::byte{7};
  const auto mark = heap_.mark();
  const block young = heap_.allocate(40, 8);
  heap_.rewind(mark);
  EXPECT_EQ(heap_.allocate(40, 8), young);
  EXPECT_EQ(*bytes_of(old), std::byte{7});
}

TEST_F(Monotonic, RewindAcrossChunksComesBackToTheSamePlace) {
  (void)heap_.allocate(100, 8);
  const auto mark = heap_.mark();
  const block young = heap_.allocate(1000, 8);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) (void)heap_.allocate(1000, 8);
    heap_.rewind(mark);
    EXPECT_FALSE(heap_.validate());
    EXPECT_EQ(heap_.usage().granted, 100u);
  }
  EXPECT_EQ(heap_.allocate(1000, 8), young);
}

TEST_F(Monotonic, RewindToTheMarkOfAnEmptyHeapEndsEverything) {
  const auto mark = heap_.mark();
  for (int i = 0; i < 100; ++i) (void)heap_.allocate(1000, 8);
  heap_.rewind(mark);
  EXPECT_EQ(heap_.usage().granted, 0u);
  EXPECT_FALSE(heap_.validate());
  EXPECT_TRUE(heap_.allocate(8, 8));
}

TEST_F(Monotonic, TheTopBlockGrowsInPlace) {
  const block top = heap_.allocate(100, 8);
  const resize_result grown = heap_.resize({top.data, 100, 8, 200, 300, resize_way::expand_forward});
  EXPECT_EQ(grown.memory, (block{top.data, 300}));
  EXPECT_TRUE(grown.reused);
  EXPECT_EQ(heap_.allocate(1, 1).data, bytes_of(top) + 300);
}

TEST_F(Monotonic, TheTopBlockGrowsToTheLimitWhereThePreferredSizeDoesNotFit) {
  const block top = heap_.allocate(100, 8);
  const resize_result grown = heap_.resize({top.data, 100, 8, 200, 1000000, resize_way::expand_forward});
  EXPECT_TRUE(grown.reused);
  EXPECT_EQ(grown.memory, (block{top.data, 200}));
  EXPECT_FALSE(heap_.resize({top.data, 200, 8, 5000, 5000, resize_way::expand_forward}).memory);
}

TEST_F(Monotonic, ABlockThatGrewLessThanPreferredIsKnownByItsRequestedSize) {
  const block top = heap_.allocate(100, 8);
  ASSERT_TRUE(heap_.resize({top.data, 100, 8, 200, 1000000, resize_way::expand_forward}).memory);
  const resize_result again = heap_.resize({top.data, 200, 8, 300, 300, resize_way::expand_forward});
  EXPECT_EQ(again.memory, (block{top.data, 300}));
  const resize_result shrunk = heap_.resize({top.data, 300, 8, 60, 60, resize_way::shrink});
  EXPECT_EQ(shrunk.memory, (block{top.data, 60}));
}

TEST_F(Monotonic, AnOlderBlockGrowsOnlyIntoANewOne) {
  const block older = heap_.allocate(100, 8);
  const block top = heap_.allocate(100, 8);
  EXPECT_FALSE(heap_.resize({older.data, 100, 8, 101, 200, resize_way::expand_forward}).memory);
  const resize_result moved =
      heap_.resize({older.data, 100, 8, 101, 200, resize_way::expand_forward | resize_way::allocate_new});
  EXPECT_FALSE(moved.reused);
  EXPECT_EQ(moved.memory, (block{bytes_of(top) + 104, 200}));
}

TEST_F(Monotonic, ANewBlockIsTheLimitWhereThePreferredSizeCannotBeHad) {
  const block b = heap_.allocate(100, 8);
  (void)heap_.allocate(1, 1);
  const resize_result moved = heap_.resize({b.data, 100, 8, 200, max_request, resize_way::allocate_new});
  EXPECT_EQ(moved.memory.size, 200u);
}

TEST_F(Monotonic, TheTopBlockShrinksAndItsEndIsReused) {
  const block top = heap_.allocate(100, 8);
  const resize_result shrunk = heap_.resize({top.data, 100, 8, 60, 40, resize_way::shrink});
  EXPECT_EQ(shrunk.memory, (block{top.data, 40}));
  EXPECT_TRUE(shrunk.reused);
  EXPECT_EQ(heap_.allocate(1, 1).data, bytes_of(top) + 40);
}

TEST_F(Monotonic, AnOlderBlockShrinksOnlyWhereNothingNeedHappen) {
  const block older = heap_.allocate(100, 8);
  (void)heap_.allocate(8, 8);
  EXPECT_FALSE(heap_.resize({older.data, 100, 8, 60, 40, resize_way::shrink}).memory);
  const resize_result tried = heap_.resize({older.data, 100, 8, 60, 40, resize_way::try_shrink});
  EXPECT_EQ(tried.memory, (block{older.data, 100}));
  EXPECT_TRUE(tried.reused);
}

TEST_F(Monotonic, UsageCountsBlocksOfAllChunks) {
  for (int i = 0; i < 100; ++i) (void)heap_.allocate(1000, 8);
  EXPECT_EQ(heap_.usage(), (heap_usage{held(), 100000, 100000}));
}

TEST_F(Monotonic, OwnsItsChunks) {
  const block b = heap_.allocate(100, 8);
  EXPECT_TRUE(heap_.owns(b.data));
  EXPECT_FALSE(heap_.owns(&heap_));
  heap_.release();
  EXPECT_FALSE(heap_.owns(b.data));
}

class MonotonicInABuffer : public testing::Test {
 protected:
  [[nodiscard]] bool in_buffer(const block& b) const {
    return b.data >= bytes_.data() && bytes_of(b) + b.size <= bytes_.data() + bytes_.size();
  }
  [[nodiscard]] std::size_t held() const { return heap_.upstream().held(); }

  alignas(16) std::array<std::byte, 1000> bytes_{};
  monotonic heap_{bytes_};
};

TEST_F(MonotonicInABuffer, NothingComesFromUpstreamUntilItIsFull) {
  EXPECT_EQ(heap_.usage(), (heap_usage{1000, 0, 0}));
  EXPECT_EQ(heap_.allocate(600, 8).data, bytes_.data());
  EXPECT_EQ(heap_.allocate(400, 1).data, bytes_.data() + 600);
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(heap_.usage(), (heap_usage{1000, 1000, 1000}));
  EXPECT_FALSE(in_buffer(heap_.allocate(1, 1)));
  EXPECT_EQ(heap_.usage(), (heap_usage{1000 + held(), 1001, 1001}));
  EXPECT_FALSE(heap_.validate());
}

TEST_F(MonotonicInABuffer, WhatDoesNotFitLeavesItsRestUnused) {
  EXPECT_TRUE(in_buffer(heap_.allocate(600, 8)));
  EXPECT_FALSE(in_buffer(heap_.allocate(600, 8)));
  EXPECT_FALSE(in_buffer(heap_.allocate(8, 8)));
  EXPECT_EQ(heap_.usage().granted, 1208u);
}

TEST_F(MonotonicInABuffer, ClearServesFromItAgainAndKeepsTheLargestChunk) {
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(100, 8);
  const std::size_t all = held();
  heap_.clear();
  EXPECT_GT(held(), 0u);
  EXPECT_LT(held(), all);
  EXPECT_EQ(heap_.usage(), (heap_usage{1000 + held(), 0, 0}));
  const std::size_t kept = held();
  EXPECT_EQ(heap_.allocate(1000, 8).data, bytes_.data());
  (void)heap_.allocate(1000, 8);
  EXPECT_EQ(held(), kept);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(MonotonicInABuffer, ReleaseServesFromItAgainAndKeepsNoChunk) {
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(100, 8);
  heap_.release();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(heap_.usage(), (heap_usage{1000, 0, 0}));
  EXPECT_EQ(heap_.allocate(1000, 8).data, bytes_.data());
}

TEST_F(MonotonicInABuffer, RewindComesBackToTheMiddleOfIt) {
  (void)heap_.allocate(100, 8);
  const auto mark = heap_.mark();
  for (int i = 0; i < 100; ++i) (void)heap_.allocate(100, 8);
  heap_.rewind(mark);
  EXPECT_EQ(heap_.usage().granted, 100u);
  EXPECT_EQ(heap_.allocate(100, 4).data, bytes_.data() + 100);
}

TEST_F(MonotonicInABuffer, TheTopBlockGrowsAndShrinksInIt) {
  const block top = heap_.allocate(100, 8);
  EXPECT_EQ(heap_.resize({top.data, 100, 8, 1000, 1000, resize_way::expand_forward}).memory.size, 1000u);
  EXPECT_FALSE(heap_.resize({top.data, 1000, 8, 1001, 1001, resize_way::expand_forward}).memory);
  EXPECT_EQ(heap_.resize({top.data, 1000, 8, 10, 10, resize_way::shrink}).memory.size, 10u);
}

TEST_F(MonotonicInABuffer, OwnsItWholly) {
  EXPECT_TRUE(heap_.owns(bytes_.data()) && heap_.owns(bytes_.data() + 999));
  EXPECT_FALSE(heap_.owns(bytes_.data() + 1000));
  EXPECT_FALSE(heap_.owns(nullptr));
  heap_.release();
  EXPECT_TRUE(heap_.owns(bytes_.data()));
}

TEST(MonotonicInBuffers, AnEmptyOneIsAsGoodAsNone) {
  monotonic heap{std::span<std::byte>{}};
  EXPECT_FALSE(heap.owns(nullptr));
  EXPECT_TRUE(heap.allocate(1, 1));
  EXPECT_EQ(heap.usage().held, heap.upstream().held());
}

TEST(MonotonicInBuffers, TheUpstreamIsMadeOfWhatFollows) {
  alignas(16) std::array<std::byte, 64> first;
  alignas(16) std::array<std::byte, 4096> second;
  basic_monotonic<fixed_buffer> heap(first, second.data(), second.size());
  EXPECT_EQ(heap.allocate(64, 16).data, first.data());
  EXPECT_TRUE(heap.allocate(64, 16));
  basic_monotonic<fixed_buffer> without(second.data(), second.size());
  EXPECT_EQ(without.usage().held, 0u);
}

TEST(MonotonicInBuffers, TheFirstOneIsTheHeapsTheNextOneItsUpstreams) {
  std::array<std::byte, 64> own;
  alignas(16) std::array<std::byte, 4096> upstreams;
  basic_monotonic<monotonic> heap(own, upstreams);
  EXPECT_EQ(heap.allocate(64, 1).data, own.data());
  const block outgrown = heap.allocate(64, 1);
  EXPECT_TRUE(outgrown.data >= upstreams.data() && outgrown.data < upstreams.data() + upstreams.size());
  EXPECT_EQ(heap.upstream().upstream().held(), 0u);
  basic_monotonic<monotonic> only(own);
  EXPECT_EQ(only.allocate(64, 1).data, own.data());
}

TEST(MonotonicInBuffers, AResourcePassesItOn) {
  std::array<std::byte, 64> bytes;
  resource<monotonic> r{bytes};
  EXPECT_EQ(r.allocate(64, 1), bytes.data());
}

TEST(MonotonicUnderPressure, ServesWhatStillFitsAndThenNull) {
  alignas(16) std::byte bytes[4096];
  basic_monotonic<fixed_buffer> heap(bytes, sizeof bytes);
  EXPECT_TRUE(heap.allocate(4000, 8));
  EXPECT_EQ(heap.allocate(100, 8), block{});
  EXPECT_FALSE(heap.validate());
  EXPECT_TRUE(heap.allocate(8, 8));
  heap.clear();
  EXPECT_TRUE(heap.allocate(4000, 8));
}

TEST(MonotonicUnderPressure, GoesOnWhenTheUpstreamDoes) {
  basic_monotonic<failing<counting<os_pages>>> heap;
  const block first = heap.allocate(4000, 8);
  heap.upstream().fail_from(1);
  EXPECT_EQ(heap.allocate(4000, 8), block{});
  EXPECT_EQ(heap.usage().granted, 4000u);
  EXPECT_TRUE(heap.allocate(16, 8));
  heap.upstream().fail_no_more();
  EXPECT_TRUE(heap.allocate(4000, 8));
  EXPECT_TRUE(heap.owns(first.data));
}

TEST(MonotonicStacked, ReleaseReachesTheUpstreamItOwns) {
  basic_monotonic<monotonic, doubling<1024, 1024>> heap;
  for (int i = 0; i < 100; ++i) (void)heap.allocate(500, 8);
  EXPECT_FALSE(heap.validate());
  heap.clear();
  EXPECT_LT(heap.upstream().upstream().held(), heap.upstream().upstream().max_held());
  heap.release();
  EXPECT_EQ(heap.upstream().upstream().held(), 0u);
}

#if MALLARD_CHECKS >= 2
// The header of a chunk stands in front of its first block.
TEST(MonotonicDeathTest, AnUnderrunIsFoundWhereManyBlocksEnd) {
  monotonic heap;
  const auto mark = heap.mark();
  const block first = heap.allocate(100, 8);
  const auto underrun = [&] { std::memset(bytes_of(first) - 24, 0xff, 24); };
  EXPECT_DEATH((underrun(), heap.clear()), "validate");
  EXPECT_DEATH((underrun(), heap.release()), "validate");
  EXPECT_DEATH((underrun(), heap.rewind(mark)), "validate");
  EXPECT_DEATH((underrun(), heap.~basic_monotonic()), "validate");
}
#endif

TEST(MonotonicDestruction, GivesEverythingBack) {
  counting<os_pages> source;
  {
    basic_monotonic<upstream_ref<counting<os_pages>>> heap(source);
    for (int i = 0; i < 1000; ++i) (void)heap.allocate(100, 8);
    EXPECT_GT(source.held(), 0u);
  }
  EXPECT_EQ(source.held(), 0u);
}

}  // namespace
}  // namespace mallard
