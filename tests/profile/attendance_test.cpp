#include "profile/attendance.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>

namespace mallard::profile {
namespace {

TEST(attendance, a_pair_keeps_its_seat_and_no_other_has_it) {
  std::mt19937_64 random(3);
  constexpr std::uint32_t groups = 20;
  attendance seats(groups);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> model;
  std::vector<std::set<std::uint32_t>> threads(groups);
  for (int step = 0; step < 5'000; ++step) {
    const auto group = static_cast<std::uint32_t>(random() % groups);
    const auto thread = static_cast<std::uint32_t>(random() % (group + 1));
    const auto next = static_cast<std::uint32_t>(model.size());
    const std::uint32_t expected = model.try_emplace({group, thread}, next).first->second;
    ASSERT_EQ(seats.seat(group, thread), expected);
    threads[group].insert(thread);
  }
  for (std::uint32_t group = 0; group < groups; ++group)
    EXPECT_EQ(seats.threads(group), threads[group].size()) << group;
}

TEST(attendance, a_group_that_nobody_came_to_has_no_threads) {
  attendance seats(2);
  seats.seat(1, 0);
  EXPECT_EQ(seats.threads(0), 0U);
  EXPECT_EQ(seats.threads(1), 1U);
}

}  // namespace
}  // namespace mallard::profile
