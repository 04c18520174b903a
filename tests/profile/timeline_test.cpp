#include "profile/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace mallard::profile {
namespace {

using row = std::vector<std::uint64_t>;

TEST(timeline, has_a_row_for_each_ns_at_first) {
  timeline_builder over_time;
  over_time.advance(0, {});
  over_time.allocation({.live_bytes = 5, .live_objects = 1, .held_bytes = 4096});
  over_time.advance(2, {.live_bytes = 5, .live_objects = 1, .held_bytes = 4096});
  over_time.allocation({.live_bytes = 9, .live_objects = 2, .held_bytes = 8192});
  over_time.advance(4, {});
  const timeline& rows = over_time.rows();
  EXPECT_EQ(rows.bucket_ns, 1U);
  EXPECT_EQ(rows.live_bytes, (row{5, 5, 9, 0, 0}));
  EXPECT_EQ(rows.live_objects, (row{1, 1, 2, 0, 0}));
  EXPECT_EQ(rows.held_bytes, (row{4096, 4096, 8192, 0, 0}));
  EXPECT_EQ(rows.allocations, (row{1, 0, 1, 0, 0}));
}

TEST(timeline, takes_any_moment) {
  timeline_builder over_time;
  over_time.advance(UINT64_MAX, {.live_bytes = 3});
  over_time.advance(UINT64_MAX, {.live_bytes = 3});
  over_time.allocation({.live_bytes = 4});
  EXPECT_EQ(over_time.rows().live_bytes.size(), timeline_builder::most_rows);
  EXPECT_EQ(over_time.rows().live_bytes.back(), 4U);
  EXPECT_EQ(over_time.rows().live_bytes.front(), 3U);
}

// Against the moments themselves, sorted into spans of the length that was found.
TEST(timeline, holds_the_most_of_each_span_whenever_it_ends) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    struct moment {
      std::uint64_t time;
      std::uint64_t live;
      bool allocation;
    };
    std::vector<moment> moments;
    timeline_builder over_time;
    std::uint64_t time = 0;
    std::uint64_t live = 0;
    const std::uint64_t step = std::uint64_t{1} << (seed % 30);
    for (std::size_t i = 0, count = 1 + random() % 3000; i < count; ++i) {
      time += random() % 50 == 0 ? random() % (100 * step) : random() % step;
      over_time.advance(time, {.live_bytes = live});
      const bool allocation = live == 0 || random() % 2 == 0;
      live = allocation ? live + random() % 100 : live - std::min<std::uint64_t>(live, random() % 100);
      if (allocation) over_time.allocation({.live_bytes = live});
      moments.push_back({time, live, allocation});
    }
    const timeline& rows = over_time.rows();
    row most(time / rows.bucket_ns + 1);
    row allocations(most.size());
    live = 0;
    std::size_t next = 0;
    for (std::size_t span = 0; span < most.size(); ++span) {
      most[span] = live;
      for (; next < moments.size() && moments[next].time / rows.bucket_ns == span; ++next) {
        live = moments[next].live;
        most[span] = std::max(most[span], live);
        allocations[span] += moments[next].allocation ? 1 : 0;
      }
    }
    ASSERT_EQ(rows.live_bytes, most) << "seed " << seed;
    ASSERT_EQ(rows.allocations, allocations) << "seed " << seed;
    ASSERT_LE(most.size(), timeline_builder::most_rows);
    ASSERT_TRUE(rows.bucket_ns == 1 || most.size() > timeline_builder::most_rows / 2) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mallard::profile
