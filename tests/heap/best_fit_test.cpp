#include "mallard/heap/best_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "mallard/source/counting.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

using heap_type = basic_best_fit<counting<os_pages>>;

static_assert(heap<best_fit> && layered<best_fit> && releasable<best_fit> && clearable<best_fit>);
static_assert(trimmable<best_fit> && freeable<best_fit> && measurable<best_fit> && owning<best_fit>);
static_assert(expandable<best_fit> && shrinkable<best_fit> && burst<best_fit> && burst_of_sizes<best_fit>);
static_assert(inspectable<best_fit> && !concurrent<best_fit>);

class BestFit : public testing::Test {
 protected:
  [[nodiscard]] std::size_t held() { return heap_.upstream().held(); }

  resize_result resize(block b, std::size_t limit, std::size_t preferred, resize_way ways,
                       std::size_t step = 16) {
    return heap_.resize({b.data, b.size, 8, limit, preferred, ways, step});
  }

  heap_type heap_;
};

TEST_F(BestFit, HoldsNothingUntilFirstUsed) { EXPECT_EQ(held(), 0u); }

TEST_F(BestFit, ABlockCostsItsTagAndIsRoundedTo16) {
  EXPECT_EQ(heap_.allocate(0, 1).size, 24u);
  EXPECT_EQ(heap_.allocate(24, 16).size, 24u);
  EXPECT_EQ(heap_.allocate(25, 16).size, 40u);
  EXPECT_EQ(heap_.allocate(1000, 8).size, 1000u);
  EXPECT_EQ(heap_.usage().carved - heap_.usage().granted, 4u * 8);
}

TEST_F(BestFit, MemoryOfOneSizeServesAnother) {
  std::vector<block> blocks;
  for (int i = 0; i < 10000; ++i) blocks.push_back(heap_.allocate(40, 8));
  const std::size_t before = held();
  for (const block& b : blocks) heap_.deallocate(b.data, 40, 8);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(heap_.allocate(4000, 8));
  EXPECT_LE(held(), before);
}

TEST_F(BestFit, LargeBlocksGoBackAtOnce) {
  const block b = heap_.allocate(1 << 20, 8);
  EXPECT_EQ(heap_.usable_size(b.data), b.size);
  EXPECT_TRUE(heap_.owns(b.data));
  EXPECT_GT(held(), std::size_t{1} << 20);
  heap_.deallocate(b.data);
  EXPECT_EQ(held(), 0u);
}

TEST_F(BestFit, AVectorGrowsWhereItIs) {
  block v = heap_.allocate(16, 8);
  const void* const begin = v.data;
  int moved = 0;
  while (v.size < 60000) {
    const resize_result grown =
        resize(v, v.size + 4, 2 * v.size, resize_way::expand_forward | resize_way::allocate_new);
    ASSERT_TRUE(grown.memory);
    if (!grown.reused) {
      heap_.deallocate(v.data, v.size, 8);
      ++moved;
    }
    v = grown.memory;
  }
  EXPECT_LE(moved, 6) << "once a chunk at most";
  EXPECT_NE(begin, nullptr);
}

TEST_F(BestFit, ABlockOfANewHeapStaysWhereItIsUntilItPassesThrough) {
  const std::size_t most = best_fit_largest - 64;  // what a chunk of its own has needs 64 bytes
  block v = heap_.allocate(4, 4);
  const void* const begin = v.data;
  for (std::size_t size = 8; size <= most; size = size * 8 / 5) {
    const resize_result grown = resize(
        v, size, size, resize_way::expand_forward | resize_way::expand_backward | resize_way::allocate_new);
    ASSERT_TRUE(grown.reused) << size;
    v = grown.memory;
  }
  EXPECT_EQ(v.data, begin);
  EXPECT_TRUE(resize(v, most, most, resize_way::expand_forward).reused) << "the largest of all";
  EXPECT_FALSE(heap_.validate());
  const std::size_t before = held();
  heap_.deallocate(v.data);
  EXPECT_EQ(held(), before) << "kept for the next one";
  EXPECT_EQ(heap_.allocate(4, 4).data, begin);
}

TEST_F(BestFit, ABlockGrowsBackwardIntoTheHoleThatIsTheRest) {
  const block hole = heap_.allocate(6000, 8);
  const block b = heap_.allocate(4000, 8);
  static_cast<void>(heap_.allocate(24, 8));
  heap_.deallocate(hole.data);
  const resize_result grown = resize(b, 8000, 8000, resize_way::expand_backward);
  ASSERT_TRUE(grown.reused);
  EXPECT_LT(grown.memory.data, b.data);
  EXPECT_GE(grown.memory.size, 8000u);
  EXPECT_FALSE(heap_.validate());
  heap_.deallocate(grown.memory.data);
  EXPECT_EQ(heap_.allocate(9000, 8).data, hole.data) << "it is one with what was left of the hole";
}

TEST_F(BestFit, GrowsIntoWhatWasFreedAMomentAgo) {
  const block b = heap_.allocate(40, 8);
  const block behind = heap_.allocate(100, 8);
  static_cast<void>(heap_.allocate(40, 8));
  const resize_way may_move = resize_way::expand_forward | resize_way::allocate_new;
  const resize_result moved = resize(b, 100, 120, may_move);
  EXPECT_FALSE(moved.reused) << "what is behind it is in use";
  heap_.deallocate(moved.memory.data);
  heap_.deallocate(behind.data);
  const resize_result grown = resize(b, 100, 120, may_move);
  EXPECT_TRUE(grown.reused);
  EXPECT_EQ(grown.memory.data, b.data);
  EXPECT_GE(grown.memory.size, 120u);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(BestFit, GrowsBackwardByTheStepOfItsObjects) {
  const block before = heap_.allocate(2000, 8);
  const block b = heap_.allocate(96, 8);
  heap_.deallocate(before.data);
  std::memset(b.data, 7, b.size);
  const resize_result grown = resize(b, 120, 960, resize_way::expand_backward, 12);
  ASSERT_TRUE(grown.memory);
  EXPECT_TRUE(grown.reused);
  EXPECT_GE(grown.memory.size, 960u);
  const auto distance = static_cast<std::byte*>(b.data) - static_cast<std::byte*>(grown.memory.data);
  EXPECT_GT(distance, 0);
  EXPECT_EQ(distance % 12, 0);
  EXPECT_EQ(*static_cast<char*>(b.data), 7) << "what was there stays where it was";
  EXPECT_FALSE(heap_.validate());
}

TEST_F(BestFit, ShrinksInPlaceAndTheRestServesOthers) {
  const block b = heap_.allocate(2000, 8);
  (void)heap_.allocate(24, 8);
  const resize_result shrunk = resize(b, 1000, 500, resize_way::shrink);
  EXPECT_EQ(shrunk.memory, (block{b.data, 504}));
  EXPECT_EQ(heap_.allocate(1400, 8).data, static_cast<std::byte*>(b.data) + 512);
  EXPECT_FALSE(resize(shrunk.memory, 490, 490, resize_way::shrink).memory) << "no block would remain";
  EXPECT_EQ(resize(shrunk.memory, 490, 490, resize_way::try_shrink).memory, shrunk.memory);
}

TEST_F(BestFit, ALargeBlockKeepsItsSizeAndServesTheLimitsItHolds) {
  const block b = heap_.allocate(200000, 8);
  EXPECT_EQ(resize(b, b.size, 2 * b.size, resize_way::expand_forward).memory, b);
  EXPECT_FALSE(resize(b, b.size + 1, b.size + 1, resize_way::expand_forward).memory);
  EXPECT_FALSE(resize(b, 1000, 1000, resize_way::shrink).memory);
  EXPECT_EQ(resize(b, 1000, 1000, resize_way::try_shrink).memory, b);
}

TEST_F(BestFit, ABurstOfSizesHasThemInOrder) {
  const std::array<std::size_t, 6> lengths = {1, 10, 0, 50000, 3, 20};
  chain burst;
  ASSERT_TRUE(heap_.allocate_burst(burst, lengths.data(), lengths.size(), 12, 4, 0));
  EXPECT_EQ(burst.size(), lengths.size());
  const void* p = burst.front();
  for (const std::size_t length : lengths) {
    EXPECT_GE(heap_.usable_size(p), length * 12);
    p = chain::next(p);
  }
  EXPECT_FALSE(heap_.allocate_burst(burst, lengths.data(), lengths.size(), SIZE_MAX / 2, 4, 0));
  EXPECT_EQ(burst.size(), lengths.size()) << "all or none";
  heap_.deallocate_burst(burst);
  EXPECT_TRUE(burst.empty());
  EXPECT_EQ(heap_.usage().granted, 0u);
}

TEST_F(BestFit, TrimGivesBackWhatIsKept) {
  std::vector<block> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(heap_.allocate(100, 8));
  for (const block& b : blocks) heap_.deallocate(b.data);
  EXPECT_GT(held(), 0u);
  heap_.trim(0);
  EXPECT_EQ(held(), 0u);
}

TEST(BestFitInABuffer, UsesNearlyAllOfIt) {
  alignas(16) static std::array<std::byte, 65536> memory;
  basic_best_fit<fixed_buffer> heap(memory.data(), memory.size());
  std::size_t bytes = 0;
  while (const block b = heap.allocate(120, 8)) bytes += b.size + 8;
  EXPECT_GT(bytes, 64000u);
  EXPECT_EQ(heap.allocate(120, 8), block{});
  EXPECT_FALSE(heap.validate());
}

}  // namespace
}  // namespace mallard
