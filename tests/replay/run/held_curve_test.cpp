#include "replay/run/held_curve.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <vector>

namespace mallard::replay {
namespace {

// What was held after each operation, recorded with a point after each `stretch` of them.
held_curve recorded(const std::vector<std::uint64_t>& held, std::size_t stretch) {
  held_curve c;
  curve_recorder recorder(c);
  for (std::size_t i = 0; i < held.size(); ++i) {
    recorder.add(i + 1, 10 * (i + 1), held[i], held[i]);
    if ((i + 1) % stretch == 0 || i + 1 == held.size()) recorder.close(i);
  }
  recorder.finish();
  return c;
}

void expect_point(const held_curve& c, std::size_t i, std::uint64_t event, std::uint64_t lowest,
                  std::uint64_t highest) {
  ASSERT_LT(i, c.count);
  EXPECT_EQ(c.points[i].event, event) << i;
  EXPECT_EQ(c.points[i].live, 10 * event) << i;
  EXPECT_EQ(c.points[i].held_min, lowest) << i;
  EXPECT_EQ(c.points[i].held_max, highest) << i;
}

TEST(HeldCurve, APointAnOperationIsExact) {
  const std::vector<std::uint64_t> held{100, 300, 200, 0, 250};
  const held_curve c = recorded(held, 1);
  ASSERT_EQ(c.count, held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    expect_point(c, i, i + 1, held[i], held[i]);
    EXPECT_EQ(c.points[i].granted, i);
  }
  EXPECT_EQ(c.marks.max_held, 300u);
  EXPECT_EQ(c.marks.live_at_max_held, 20u);
}

// The stretch of the highest moment is two points: up to it, and what follows.
TEST(HeldCurve, TheHighestMomentIsAPointWhereverItLies) {
  const held_curve c = recorded({100, 500, 200, 150, 400, 50, 300, 100}, 4);
  ASSERT_EQ(c.count, 3u);
  expect_point(c, 0, 2, 100, 500);
  expect_point(c, 1, 4, 150, 200);
  expect_point(c, 2, 8, 50, 400);
  EXPECT_EQ(c.points[0].granted, unknown_bytes) << "no stop is there";

  const held_curve later = recorded({100, 500, 200, 150, 400, 50, 900, 100}, 4);
  ASSERT_EQ(later.count, 3u);
  expect_point(later, 0, 4, 100, 500);
  expect_point(later, 1, 7, 50, 900);
  expect_point(later, 2, 8, 100, 100);
}

TEST(HeldCurve, SeveralHighestMomentsOfAStretchAreOne) {
  const held_curve c = recorded({100, 200, 50, 300, 250, 400, 350, 10}, 8);
  ASSERT_EQ(c.count, 2u);
  expect_point(c, 0, 6, 50, 400);
  expect_point(c, 1, 8, 10, 350);
}

TEST(HeldCurve, OfAPlateauTheFirstMomentIsTheHighest) {
  const held_curve c = recorded({100, 400, 400, 400}, 4);
  ASSERT_EQ(c.count, 2u);
  expect_point(c, 0, 2, 100, 400);
  expect_point(c, 1, 4, 400, 400);
  EXPECT_EQ(c.marks.live_at_max_held, 20u);
}

// Any history, thinned out in any way: each stretch has the extremes of its operations.
TEST(HeldCurve, ThinningOutLosesNoExtreme) {
  std::mt19937 random(7);
  for (const std::size_t stretch : {1u, 2u, 3u, 10u, 97u, 500u}) {
    std::vector<std::uint64_t> held(500);
    for (std::uint64_t& bytes : held) bytes = random() % 1000;
    const held_curve c = recorded(held, stretch);
    std::size_t from = 0;
    for (std::size_t i = 0; i < c.count; ++i) {
      const auto first = held.begin() + static_cast<std::ptrdiff_t>(from);
      const auto last = held.begin() + static_cast<std::ptrdiff_t>(c.points[i].event);
      ASSERT_LT(first, last);
      EXPECT_EQ(c.points[i].held_min, *std::min_element(first, last)) << stretch << ": " << i;
      EXPECT_EQ(c.points[i].held_max, *std::max_element(first, last)) << stretch << ": " << i;
      from = c.points[i].event;
    }
    EXPECT_EQ(from, held.size());
  }
}

// Between two operations more may be held than after either, as where a block moves.
TEST(HeldCurve, WhatIsHeldWithinAnOperationCounts) {
  held_curve c;
  curve_recorder recorder(c);
  recorder.add(1, 100, 100, 100);
  recorder.add(2, 150, 150, 250);
  recorder.close(unknown_bytes);
  recorder.finish();
  ASSERT_EQ(c.count, 1u);
  EXPECT_EQ(c.points[0].held_max, 250u);
  EXPECT_EQ(c.marks.max_held, 250u);
  EXPECT_EQ(c.marks.live_at_max_held, 150u);
}

TEST(HeldCurve, TheMeanIsOfRatiosAndLeavesOutWhatIsEmpty) {
  held_curve c;
  curve_recorder recorder(c);
  recorder.add(1, 50, 100, 100);
  recorder.weigh(100, 1.0 / 50, 1);
  recorder.add(2, 200, 200, 200);
  recorder.weigh(200, 1.0 / 200, 1);
  recorder.close(0);
  recorder.finish();
  EXPECT_DOUBLE_EQ(c.marks.mean_ratio, (2.0 + 1.0) / 2);

  held_curve empty;
  curve_recorder none(empty);
  none.add(1, 0, 100, 100);
  none.weigh(100, 0, 0);
  none.close(0);
  none.finish();
  EXPECT_EQ(empty.marks.mean_ratio, 0);
}

}  // namespace
}  // namespace mallard::replay
