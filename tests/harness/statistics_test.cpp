#include "harness/statistics.hpp"

#include <gtest/gtest.h>

namespace mallard::harness {
namespace {

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(median({3}), 3);
  EXPECT_DOUBLE_EQ(median({5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, QuantilesLieLinearlyBetweenTheNearestFigures) {
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 0), 10);
  EXPECT_DOUBLE_EQ(quantile({50, 40, 30, 20, 10}, 0.1), 14);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 1), 50);
}

TEST(Statistics, OneDisturbedRoundMovesTheSpreadButNotTheMedian) {
  const summary s = summarise({10, 10, 10, 10, 100});
  EXPECT_DOUBLE_EQ(s.median, 10);
  EXPECT_DOUBLE_EQ(s.around.low, 10);
  EXPECT_DOUBLE_EQ(s.around.high, 64);
  EXPECT_DOUBLE_EQ(relative_width(s), 5.4);
}

TEST(Statistics, TheSpreadLeavesOutATenthAtEitherEnd) {
  const summary s = summarise({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(s.around.low, 1.4);
  EXPECT_DOUBLE_EQ(s.around.high, 4.6);
}

TEST(Statistics, TheWidthOfANegativeOrZeroMedianIsDefined) {
  EXPECT_DOUBLE_EQ(relative_width({-2, {-3, -1}}), 1);
  EXPECT_DOUBLE_EQ(relative_width({0, {-1, 1}}), 0);
}

TEST(Statistics, SpreadsThatTouchAreNotApart) {
  EXPECT_TRUE(apart({1, 2}, {3, 4}));
  EXPECT_TRUE(apart({3, 4}, {1, 2}));
  EXPECT_FALSE(apart({1, 3}, {3, 4}));
  EXPECT_FALSE(apart({1, 9}, {3, 4}));
}

}  // namespace
}  // namespace mallard::harness
