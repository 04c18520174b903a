#include "journal/events/metadata.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace mallard::journal {
namespace {

TEST(tick_scale, rounds_to_the_nearest_ns) {
  const tick_scale clock(0.4);
  EXPECT_EQ(clock.ns(0), 0U);
  EXPECT_EQ(clock.ns(1), 0U);
  EXPECT_EQ(clock.ns(2), 1U);
  EXPECT_EQ(clock.ns(5), 2U);
}

TEST(tick_scale, leaves_ns_as_they_are) {
  const std::uint64_t since_the_epoch = 1'763'780'400'123'456'789;
  EXPECT_EQ(tick_scale(1).ns(since_the_epoch), since_the_epoch);
}

TEST(tick_scale, keeps_what_does_not_fit_at_the_largest_number) {
  EXPECT_EQ(tick_scale(1e9).ns(UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(tick_scale(std::numeric_limits<double>::infinity()).ns(0), UINT64_MAX);
}

}  // namespace
}  // namespace mallard::journal
