#include "p0089/utilization/measure_utilization.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/p0089/utilization/counting_way.hpp"

namespace mallard::bench {
namespace {

page measured(counting_way& way, const utilization_setting& asked) {
  setting whole;
  whole.utilization = asked;
  page p(whole);
  measure_utilization(way, p);
  return p;
}

TEST(MeasureUtilization, AllocatesTheTotalInOneLifeAndFreesAll) {
  counting_way way;
  const page p = measured(way, {12, 8, 4});
  EXPECT_EQ(p.state, harness::work_state::done);
  EXPECT_EQ(way.begun, 1u);
  EXPECT_EQ(way.ended, 1u);
  EXPECT_EQ(way.allocated, 256u) << "2^12 bytes in blocks of 2^4";
  EXPECT_EQ(way.most_alive, 16u) << "2^8 bytes";
  EXPECT_EQ(way.freed.size(), 256u);
  EXPECT_GT(p.found[0].cold_ns, 0);
  EXPECT_GT(p.found[0].warm_ns, 0);
}

TEST(MeasureUtilization, OneBlockAtATimeIsAGroupToo) {
  counting_way way;
  EXPECT_EQ(measured(way, {10, 6, 6}).state, harness::work_state::done);
  EXPECT_EQ(way.allocated, 16u);
  EXPECT_EQ(way.most_alive, 1u);
}

TEST(MeasureUtilization, SaysHowFarItCameBeforeMemoryRanOut) {
  counting_way way;
  way.most = 64;
  const page p = measured(way, {12, 8, 4});
  EXPECT_EQ(p.state, harness::work_state::out_of_memory);
  EXPECT_STREQ(p.reason.data(), "memory ran out after 1.00 KiB of 4.00 KiB");
  EXPECT_EQ(way.ended, 1u);
}

TEST(MeasureUtilization, SaysSoWhereNotEvenTheLiveBlocksFit) {
  counting_way way;
  way.most = 0;
  EXPECT_STREQ(measured(way, {12, 8, 4}).reason.data(), "memory ran out after 0 B of 4.00 KiB");
}

}  // namespace
}  // namespace mallard::bench
