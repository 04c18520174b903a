#include "harness/session.hpp"

#include <gtest/gtest.h>

#include <string>

#include "harness/binding.hpp"
#include "harness/statistics.hpp"

namespace mallard::harness {
namespace {

// Who was measured, in order: one letter a turn.
template <class Result, class NeedsMore>
std::string order(std::size_t allocators, round_limits limits, Result result, NeedsMore needs_more) {
  std::string turns;
  alternate(
      allocators, limits,
      [&](std::size_t round, std::size_t c) {
        turns += static_cast<char>('A' + c);
        return result(round, c);
      },
      needs_more);
  return turns;
}

constexpr auto goes_on = [](std::size_t, std::size_t) { return turn_result::go_on; };
constexpr auto has_enough = [](std::size_t) { return false; };

TEST(Alternation, AllocatorsTakeTurnsForTheLeastNumberOfRounds) {
  EXPECT_EQ(order(3, {}, goes_on, has_enough), "ABCABCABCABCABC");
}

TEST(Alternation, OnlyAnUnsettledAllocatorGetsMoreRoundsBesideTheFirst) {
  EXPECT_EQ(order(3, {5, 7}, goes_on, [](std::size_t c) { return c == 2; }), "ABCABCABCABCABCACAC");
}

TEST(Alternation, ExtraRoundsEndAsSoonAsAllAreSettled) {
  int asked = 0;
  EXPECT_EQ(order(2, {1, 9}, goes_on, [&](std::size_t c) { return c == 1 && ++asked <= 2; }), "ABABAB");
}

TEST(Alternation, WhoCannotGoOnIsLeftOutFromThenOn) {
  const auto second_fails = [](std::size_t round, std::size_t c) {
    return round == 1 && c == 1 ? turn_result::leave_out : turn_result::go_on;
  };
  EXPECT_EQ(order(3, {4, 4}, second_fails, has_enough), "ABCABCACAC");
}

TEST(Alternation, StoppingEndsItInTheMiddleOfARound) {
  const auto stops = [](std::size_t round, std::size_t c) {
    return round == 1 && c == 1 ? turn_result::stop_all : turn_result::go_on;
  };
  EXPECT_EQ(order(3, {}, stops, has_enough), "ABCAB");
}

TEST(Binding, HasTheNameOfTheTables) {
  EXPECT_EQ(name_of(binding::typed), "typed");
  EXPECT_EQ(name_of(binding::pmr), "pmr");
  EXPECT_EQ(name_of(binding::malloc), "malloc");
}

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
