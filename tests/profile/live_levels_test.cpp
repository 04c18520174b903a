#include "profile/live_levels.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace mallard::profile {
namespace {

using rows = std::vector<std::uint64_t>;

TEST(live_levels, a_bucket_has_its_most_and_what_was_alive_at_its_start) {
  live_levels levels(1, 400, 4);
  levels.changed(0, 10, 5);
  levels.changed(0, 20, 9);
  levels.changed(0, 30, 4);
  levels.changed(0, 110, 1);  // 4 until then
  levels.changed(0, 350, 7);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({9, 4, 1, 7}));
}

TEST(live_levels, a_bucket_begins_with_its_first_nanosecond) {
  live_levels levels(1, 100, 3);  // at 0, 33.3, 66.7
  levels.changed(0, 33, 1);
  levels.changed(0, 34, 2);
  levels.changed(0, 66, 3);
  levels.changed(0, 67, 4);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({1, 3, 4}));
}

TEST(live_levels, the_level_goes_on_to_the_end) {
  live_levels levels(2, 100, 5);
  levels.changed(1, 25, 6);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({0, 0, 0, 0, 0, 0, 6, 6, 6, 6}));
}

TEST(live_levels, what_is_at_the_end_or_behind_it_is_in_the_last_bucket) {
  live_levels levels(1, 100, 2);
  levels.changed(0, 100, 3);
  levels.changed(0, UINT64_MAX, 8);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({0, 8}));
}

TEST(live_levels, what_is_said_to_be_earlier_is_in_the_latest_bucket) {
  live_levels levels(2, 100, 2);
  levels.changed(0, 60, 3);
  levels.changed(1, 40, 8);
  levels.changed(1, 45, 0);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({0, 3, 0, 8}));
}

TEST(live_levels, no_buckets_and_no_time_are_no_trouble) {
  live_levels none(3, 100, 0);
  none.changed(2, 50, 1);
  none.finish();
  EXPECT_TRUE(none.most().empty());

  live_levels at_once(1, 0, 2);
  at_once.changed(0, 0, 1);
  at_once.finish();
  EXPECT_EQ(at_once.most(), rows({0, 1}));
}

TEST(live_levels, agrees_with_a_level_for_each_nanosecond) {
  std::mt19937_64 random(23);
  constexpr std::uint64_t end = 1'000;
  constexpr std::uint32_t buckets = 7;
  live_levels levels(1, end, buckets);
  rows expected(buckets);
  std::uint64_t level = 0;
  for (std::uint64_t time = 0; time < end; ++time) {
    std::uint64_t& most = expected[time * buckets / end];
    most = std::max(most, level);
    if (random() % 40 != 0) continue;
    level = random() % 100;
    levels.changed(0, time, level);
    most = std::max(most, level);
  }
  levels.finish();
  EXPECT_EQ(levels.most(), expected);
}

}  // namespace
}  // namespace mallard::profile
