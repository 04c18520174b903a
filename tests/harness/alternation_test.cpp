#include "harness/alternation.hpp"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace mallard::harness
