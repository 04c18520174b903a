#include "mallard/source/fixed_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "mallard/core/concepts.hpp"

namespace mallard {
namespace {

static_assert(heap<fixed_buffer> && predictable<fixed_buffer> && owning<fixed_buffer> &&
              inspectable<fixed_buffer>);

class FixedBuffer : public testing::Test {
 protected:
  alignas(4096) std::byte bytes_[8192];
  fixed_buffer buffer_{bytes_, sizeof bytes_};
};

TEST_F(FixedBuffer, GivesEveryByteAndThenNull) {
  const block whole = buffer_.allocate(sizeof bytes_, 16);
  EXPECT_EQ(whole, (block{bytes_, sizeof bytes_}));
  EXPECT_EQ(buffer_.allocate(1, 1), block{});
  buffer_.deallocate(whole.data, whole.size, 16);
  EXPECT_EQ(buffer_.allocate(sizeof bytes_, 16), whole);
}

TEST_F(FixedBuffer, TakesBlocksBackInEveryOrder) {
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    std::array<block, 4> blocks;
    for (block& b : blocks) b = buffer_.allocate(2048, 16);
    for (const int i : order) {
      ASSERT_TRUE(blocks[static_cast<std::size_t>(i)]);
      buffer_.deallocate(blocks[static_cast<std::size_t>(i)].data, 2048, 16);
      ASSERT_FALSE(buffer_.validate());
    }
    EXPECT_EQ(buffer_.usage(), (heap_usage{8192, 0, 0}));
    const block whole = buffer_.allocate(8192, 16);
    ASSERT_TRUE(whole);
    buffer_.deallocate(whole.data, 8192, 16);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(FixedBuffer, LeavesTheRoomBeforeAnAlignedBlockToOthers) {
  const block first = buffer_.allocate(16, 16);
  const block aligned = buffer_.allocate(16, 4096);
  EXPECT_EQ(aligned.data, bytes_ + 4096);
  EXPECT_EQ(buffer_.allocate(4080, 16), (block{bytes_ + 16, 4080}));
  EXPECT_EQ(buffer_.usage().granted, 16u + 16u + 4080u);
  EXPECT_FALSE(buffer_.validate());
  EXPECT_EQ(first.data, bytes_);
}

TEST_F(FixedBuffer, TakesBackAnySizeUpToTheReceivedOne) {
  const block b = buffer_.allocate(33, 1);
  EXPECT_EQ(b.size, 48u);
  EXPECT_EQ(buffer_.received_size(33, 1), 48u);
  buffer_.deallocate(b.data, 40, 1);
  EXPECT_EQ(buffer_.usage().granted, 0u);
  EXPECT_FALSE(buffer_.validate());
}

TEST_F(FixedBuffer, AnswersWhatIsLargerThanItselfWithNull) {
  EXPECT_EQ(buffer_.allocate(8193, 1), block{});
  EXPECT_EQ(buffer_.allocate(static_cast<std::size_t>(-1), 1), block{});
  EXPECT_EQ(buffer_.received_size(8193, 1), 0u);
  EXPECT_TRUE(buffer_.allocate(8192, 16));
}

TEST_F(FixedBuffer, GivesNoWeakerAlignmentThanAskedFor) {
  EXPECT_TRUE(buffer_.allocate(16, 16));
  EXPECT_EQ(buffer_.allocate(8176, 32), block{});
  EXPECT_EQ(buffer_.allocate(8176, 16), (block{bytes_ + 16, 8176}));
}

TEST_F(FixedBuffer, OwnsItsBytesOnly) {
  EXPECT_TRUE(buffer_.owns(bytes_) && buffer_.owns(bytes_ + 8191));
  EXPECT_FALSE(buffer_.owns(bytes_ + 8192));
  EXPECT_FALSE(buffer_.owns(this));
  EXPECT_FALSE(buffer_.owns(nullptr));
}

TEST(FixedBufferOfAnyShape, PredictsNothingWhereNothingCanBeHad) {
  const fixed_buffer none(nullptr, 0);
  EXPECT_EQ(none.received_size(0, 1), 0u);
  alignas(64) std::byte bytes[64];
  const fixed_buffer small(bytes + 16, 48);
  EXPECT_EQ(small.received_size(48, 16), 48u);
  EXPECT_EQ(small.received_size(1, 64), 0u);
}

TEST(FixedBufferOfAnyShape, UsesWhatIsAlignedOfIt) {
  alignas(16) std::byte bytes[64];
  fixed_buffer shifted(bytes + 1, 63);
  EXPECT_EQ(shifted.capacity(), 48u);
  EXPECT_EQ(shifted.allocate(48, 16), (block{bytes + 16, 48}));
  fixed_buffer tiny(bytes + 1, 20);
  EXPECT_EQ(tiny.capacity(), 0u);
  EXPECT_EQ(tiny.allocate(1, 1), block{});
  fixed_buffer nothing(nullptr, 0);
  EXPECT_EQ(nothing.allocate(0, 1), block{});
  EXPECT_FALSE(nothing.owns(nullptr));
}

TEST_F(FixedBuffer, ReportsAHoleThatWasOverwritten) {
  const block first = buffer_.allocate(64, 16);
  const block second = buffer_.allocate(64, 16);
  buffer_.deallocate(first.data, 64, 16);
  EXPECT_FALSE(buffer_.validate());
  std::fill_n(static_cast<std::byte*>(first.data), 16, std::byte{0xAB});
  EXPECT_TRUE(buffer_.validate());
  EXPECT_TRUE(second);
}

}  // namespace
}  // namespace mallard
