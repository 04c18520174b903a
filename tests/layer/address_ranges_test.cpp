#include "mallard/layer/address_ranges.hpp"

#include <gtest/gtest.h>

#include <array>

#include "mallard/core/intrusive_stack.hpp"

namespace mallard {
namespace {

// Every other 16 bytes of a span, from the last one to the first.
template <std::size_t Pieces>
struct islands {
  alignas(16) std::array<std::byte, 32 * Pieces> bytes;

  [[nodiscard]] address_ranges ranges() const {
    return address_ranges([this](auto f) {
      for (std::size_t i = Pieces; i-- > 0;) f(bytes.data() + 32 * i, 16);
    });
  }
};

// As many as fit into the object, and more.
template <class Islands>
class AddressRanges : public testing::Test {};
using numbers = testing::Types<islands<1>, islands<32>, islands<33>, islands<1000>>;
TYPED_TEST_SUITE(AddressRanges, numbers);

TYPED_TEST(AddressRanges, ContainTheirPiecesAndNothingElse) {
  const TypeParam pieces{};
  const address_ranges ranges = pieces.ranges();
  for (std::size_t i = 0; i < pieces.bytes.size(); ++i)
    ASSERT_EQ(ranges.contains(&pieces.bytes[i]), i % 32 < 16) << i;
  EXPECT_FALSE(ranges.contains(pieces.bytes.data() - 1));
  EXPECT_FALSE(ranges.contains(pieces.bytes.data() + pieces.bytes.size()));
  EXPECT_EQ(ranges.bytes(), pieces.bytes.size() / 2);
}

TYPED_TEST(AddressRanges, KnowWhereBlocksBegin) {
  const TypeParam pieces{};
  const address_ranges ranges = pieces.ranges();
  for (std::size_t i = 0; i < pieces.bytes.size(); ++i)
    ASSERT_EQ(ranges.contains(&pieces.bytes[i], 8), i % 32 < 16 && i % 8 == 0) << i;
}

TYPED_TEST(AddressRanges, OverlapWhereOneBeginsInsideAnother) {
  const TypeParam pieces{};
  EXPECT_FALSE(pieces.ranges().overlap());
  for (const std::size_t begin : {0u, 8u, 15u}) {
    const address_ranges ranges([&](auto f) {
      for (std::size_t at = 0; at < pieces.bytes.size(); at += 32) f(pieces.bytes.data() + at, 16);
      f(pieces.bytes.data() + begin, 1);
    });
    EXPECT_TRUE(ranges.overlap()) << begin;
  }
}

TEST(NoAddressRanges, ContainNothing) {
  const address_ranges none([](auto) {});
  EXPECT_FALSE(none.contains(&none));
  EXPECT_FALSE(none.contains(nullptr));
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_FALSE(none.overlap());
}

class ValidateFreed : public testing::Test {
 protected:
  [[nodiscard]] violation found() const { return validate_freed(freed_, memory_.ranges(), 16); }

  islands<4> memory_{};
  intrusive_stack freed_;
};

TEST_F(ValidateFreed, BlocksOfThePoolAreNoError) {
  EXPECT_FALSE(found());
  for (std::size_t i = 0; i < 4; ++i) freed_.push(&memory_.bytes[32 * i]);
  EXPECT_FALSE(found());
}

TEST_F(ValidateFreed, ABlockFreedTwiceIsACircle) {
  freed_.push(memory_.bytes.data());
  freed_.push(memory_.bytes.data());
  EXPECT_TRUE(found());
}

TEST_F(ValidateFreed, WhatIsNoBlockIsNotFollowed) {
  freed_.push(memory_.bytes.data());
  for (const std::uintptr_t wild :
       {address_of(&memory_.bytes[8]), address_of(&memory_.bytes[16]), std::uintptr_t{0x1230}}) {
    *reinterpret_cast<std::uintptr_t*>(memory_.bytes.data()) = wild;
    EXPECT_TRUE(found()) << wild;
  }
}

}  // namespace
}  // namespace mallard
