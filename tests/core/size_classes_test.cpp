#include "mallard/core/size_classes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mallard/core/align.hpp"

namespace mallard {
namespace {

template <class Classes>
class SizeClasses : public testing::Test {};

using tables = testing::Types<size_classes<8, 128, 4, 65536>, size_classes<16, 64, 1, 256>,
                              size_classes<8, 64, 8, 4096>, size_classes<16, 1024, 2, 1024>,
                              size_classes<8, 64, 8, 4096, 16>, size_classes<8, 128, 4, 65536, 64>>;
TYPED_TEST_SUITE(SizeClasses, tables);

TYPED_TEST(SizeClasses, AreAscendingAndEndWithTheLargest) {
  for (std::size_t i = 1; i < TypeParam::count; ++i) EXPECT_LT(TypeParam::size(i - 1), TypeParam::size(i));
  EXPECT_EQ(TypeParam::size(TypeParam::count - 1), TypeParam::largest);
}

TYPED_TEST(SizeClasses, GiveTheSmallestThatHoldsARequest) {
  for (std::size_t size = 0; size <= TypeParam::largest; ++size) {
    const std::size_t index = TypeParam::index(size, 1);
    ASSERT_LT(index, TypeParam::count);
    ASSERT_GE(TypeParam::size(index), size);
    ASSERT_TRUE(index == TypeParam::index(0, 1) || TypeParam::size(index - 1) < size);
  }
}

TYPED_TEST(SizeClasses, GiveBlocksOfTheAlignmentAskedFor) {
  for (std::size_t align = 1; align <= TypeParam::max_align; align *= 2)
    for (std::size_t size = 0; size <= TypeParam::largest; ++size) {
      const std::size_t received = TypeParam::size(TypeParam::index(size, align));
      ASSERT_GE(received, size);
      ASSERT_GE(TypeParam::natural_align(received), align) << size;
      ASSERT_EQ(received % align, 0u);
    }
}

TYPED_TEST(SizeClasses, AreFoundAgainFromAnySizeUpToTheReceivedOne) {
  for (std::size_t align = 1; align <= TypeParam::max_align; align *= 2)
    for (std::size_t size = 0; size <= TypeParam::largest; ++size) {
      const std::size_t index = TypeParam::index(size, align);
      ASSERT_EQ(TypeParam::index(TypeParam::size(index), align), index);
      ASSERT_EQ(TypeParam::index((size + TypeParam::size(index)) / 2, align), index);
    }
}

TYPED_TEST(SizeClasses, TableAndFormulaAgree) {
  for (std::size_t align = 1; align <= TypeParam::max_align; align *= 2)
    for (std::size_t size = 1; size <= TypeParam::small; ++size) {
      ASSERT_TRUE(TypeParam::is_small(size, align));
      ASSERT_EQ(TypeParam::small_index(size, align), TypeParam::index(size, align));
    }
}

TYPED_TEST(SizeClasses, ServeNothingBeyondTheirLimits) {
  EXPECT_TRUE(TypeParam::serves(TypeParam::largest, TypeParam::max_align));
  EXPECT_FALSE(TypeParam::serves(TypeParam::largest + 1, 1));
  EXPECT_FALSE(TypeParam::serves(1, 2 * TypeParam::max_align));
  EXPECT_FALSE(TypeParam::is_small(TypeParam::small + 1, 1));
  EXPECT_FALSE(TypeParam::is_small(1, 2 * TypeParam::max_align));
  EXPECT_FALSE(TypeParam::is_small(static_cast<std::size_t>(-1), 1));
  EXPECT_FALSE(TypeParam::is_small(0, 1));
}

TEST(SizeClassesWithALeast, GiveNoBlockBelowIt) {
  using classes = size_classes<8, 64, 8, 4096, 32>;
  for (std::size_t size = 0; size <= 32; ++size) EXPECT_EQ(classes::size(classes::index(size, 8)), 32u);
  EXPECT_EQ(classes::size(classes::index(33, 8)), 40u);
}

TEST(SizeClassesWaste, IsLessThanAStepBelowAndAShareOfADoublingAbove) {
  using classes = size_classes<8, 128, 4, 65536>;
  for (std::size_t size = 1; size <= classes::largest; ++size) {
    const std::size_t waste = classes::size(classes::index(size, 1)) - size;
    ASSERT_LT(waste, size <= 128 ? 8 : size / 4 + 1) << size;
  }
}

TEST(LargeSizes, EachRequestHasTheLeastThatHasRoom) {
  std::size_t last = 0;
  for (std::size_t size = 1; size <= large_sizes::largest; size += 1 + size / 300) {
    const std::size_t rounded = large_sizes::rounded(size);
    EXPECT_GE(rounded, std::max(size, last));
    EXPECT_EQ(large_sizes::rounded(rounded), rounded);
    EXPECT_EQ(large_sizes::size(large_sizes::index(rounded)), rounded);
    EXPECT_EQ(rounded % 16, 0u);
    if (size > large_sizes::least) {
      EXPECT_LE(rounded, size + size / 16);
    }
    last = rounded;
  }
  EXPECT_EQ(large_sizes::rounded(1), large_sizes::least);
  EXPECT_EQ(large_sizes::index(large_sizes::least), 0u);
  EXPECT_EQ(large_sizes::index(large_sizes::largest), large_sizes::count - 1);
}

TEST(LargeSizes, ABlockHasRoomForTheSizeOfItsNumber) {
  for (std::size_t size = large_sizes::least; size < 2 * large_sizes::largest; ++size) {
    const std::size_t index = large_sizes::index_within(size);
    ASSERT_LE(large_sizes::size(index), size);
    if (index + 1 < large_sizes::count) {
      ASSERT_GT(large_sizes::size(index + 1), size);
    }
  }
}

}  // namespace
}  // namespace mallard
