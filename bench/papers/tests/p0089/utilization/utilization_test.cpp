#include "p0089/utilization/utilization.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

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
  EXPECT_EQ(others,
            (std::set<std::string>{"glibc-notrim", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc", "mallard",
                                   "std.monotonic", "boost.monotonic", "std.pool", "boost.pool",
                                   "std.sync_pool", "boost.sync_pool", "synchronized_multipool"}));
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

}  // namespace
}  // namespace mallard::bench
