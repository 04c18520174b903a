#include "p0089/utilization/utilization.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/p0089/utilization/counting_binding.hpp"

namespace mallard::bench {
namespace {

TEST(Utilization, NamesItsSettings) {
  EXPECT_EQ(group_of(utilization_setting{30, 15, 10}),
            (nlohmann::ordered_json{{"total", 30}, {"active", 15}, {"block", 10}}));
}

TEST(Utilization, HasThePapersColumnsWithoutWinkOutAndThoseBeyond) {
  std::set<std::string> labels;
  std::set<std::string> others;
  for (const measured_allocator& c : utilization_allocators()) {
    EXPECT_EQ(c.ends, destruction::normal) << c.name();
    c.label.empty() ? others.insert(c.strategy) : labels.insert(c.label);
  }
  EXPECT_EQ(labels, (std::set<std::string>{"AS1", "AS2", "AS3", "AS5", "AS7", "AS9", "AS11", "AS13"}));
  EXPECT_EQ(others, (std::set<std::string>{"glibc-notrim", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc",
                                           "mallard", "mallard-checked", "std.monotonic", "boost.monotonic",
                                           "std.pool", "boost.pool", "std.sync_pool", "boost.sync_pool",
                                           "synchronized_multipool"}));
}

TEST(Utilization, NeedsWhatIsAliveNotWhatIsAllocated) {
  EXPECT_GT(bytes_needed(utilization_setting{40, 30, 10}), std::uint64_t{1} << 30);
  EXPECT_LT(bytes_needed(utilization_setting{40, 30, 10}), std::uint64_t{1} << 32);
}

TEST(Utilization, KnowsGroupsThatCannotBe) {
  EXPECT_EQ(fault_of(utilization_setting{30, 15, 10}), "");
  EXPECT_EQ(fault_of(utilization_setting{16, 15, 15}), "");
  EXPECT_NE(fault_of(utilization_setting{30, 15, 16}), "");
  EXPECT_NE(fault_of(utilization_setting{15, 15, 10}), "");
}

struct RollingBlocks : ::testing::Test {
  counting_binding binding;
  counting_binding::life life{binding};
  std::array<void*, 4> ring{};
  rolling_blocks<counting_binding::life> blocks{life, ring, 32};

  static std::vector<std::uint64_t> first(std::size_t n) {
    std::vector<std::uint64_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
};

TEST_F(RollingBlocks, FillAllocatesWhatIsToBeAlive) {
  blocks.fill();
  EXPECT_EQ(binding.allocated, 4u);
  EXPECT_TRUE(binding.freed.empty());
}

TEST_F(RollingBlocks, TheOldestMakesRoomBeforeTheNextIsAllocated) {
  blocks.fill();
  blocks.turn_over(16);
  EXPECT_EQ(binding.allocated, 16u);
  EXPECT_EQ(binding.freed, first(12));
  EXPECT_EQ(binding.most_alive, 4u);
}

TEST_F(RollingBlocks, TheRestIsFreedOldestFirst) {
  blocks.fill();
  blocks.turn_over(10);
  blocks.drain();
  EXPECT_EQ(binding.freed, first(10));
  EXPECT_EQ(binding.alive, 0u);
}

TEST_F(RollingBlocks, EveryBlockHasTheSizeAndIsTouchedOnce) {
  blocks.fill();
  blocks.turn_over(16);
  blocks.drain();
  EXPECT_EQ(binding.sizes, std::vector<std::size_t>(32, 32));
  for (const auto& content : binding.contents) EXPECT_EQ(content[0], 1);
}

TEST_F(RollingBlocks, CountsWhatThereWasBeforeMemoryRanOut) {
  binding.most = 7;
  blocks.fill();
  EXPECT_THROW(blocks.turn_over(16), std::bad_alloc);
  EXPECT_EQ(blocks.count(), 7u);
}

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
