#include "mallard/heap/monotonic.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "mallard/layer/failing.hpp"
#include "mallard/source/borrowed.hpp"
#include "mallard/source/fixed_buffer.hpp"

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
  basic_monotonic<borrowed<failing<os_pages>>> heap(counted_source);
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

#if MALLARD_CHECKS
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
    basic_monotonic<borrowed<counting<os_pages>>> heap(source);
    for (int i = 0; i < 1000; ++i) (void)heap.allocate(100, 8);
    EXPECT_GT(source.held(), 0u);
  }
  EXPECT_EQ(source.held(), 0u);
}

}  // namespace
}  // namespace mallard
