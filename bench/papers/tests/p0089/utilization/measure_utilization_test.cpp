#include "p0089/utilization/measure_utilization.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/p0089/utilization/counting_binding.hpp"

namespace mallard::bench {
namespace {

page measured(counting_binding& binding, const utilization_setting& asked) {
  setting whole;
  whole.utilization = asked;
  page p(whole);
  measure_utilization(binding, p);
  return p;
}

TEST(MeasureUtilization, AllocatesTheTotalInOneLifeAndFreesAll) {
  counting_binding binding;
  const page p = measured(binding, {12, 8, 4});
  EXPECT_EQ(p.state, harness::work_state::done);
  EXPECT_EQ(binding.begun, 1u);
  EXPECT_EQ(binding.ended, 1u);
  EXPECT_EQ(binding.allocated, 256u) << "2^12 bytes in blocks of 2^4";
  EXPECT_EQ(binding.most_alive, 16u) << "2^8 bytes";
  EXPECT_EQ(binding.freed.size(), 256u);
  EXPECT_GT(p.found[0].cold_ns, 0);
  EXPECT_GT(p.found[0].warm_ns, 0);
}

TEST(MeasureUtilization, OneBlockAtATimeIsAGroupToo) {
  counting_binding binding;
  EXPECT_EQ(measured(binding, {10, 6, 6}).state, harness::work_state::done);
  EXPECT_EQ(binding.allocated, 16u);
  EXPECT_EQ(binding.most_alive, 1u);
}

TEST(MeasureUtilization, SaysHowFarItCameBeforeMemoryRanOut) {
  counting_binding binding;
  binding.most = 64;
  const page p = measured(binding, {12, 8, 4});
  EXPECT_EQ(p.state, harness::work_state::out_of_memory);
  EXPECT_STREQ(p.reason.data(), "memory ran out after 1.00 KiB of 4.00 KiB");
  EXPECT_EQ(binding.ended, 1u);
}

TEST(MeasureUtilization, SaysSoWhereNotEvenTheLiveBlocksFit) {
  counting_binding binding;
  binding.most = 0;
  EXPECT_STREQ(measured(binding, {12, 8, 4}).reason.data(), "memory ran out after 0 B of 4.00 KiB");
}

}  // namespace
}  // namespace mallard::bench
