#include "common/measured_allocator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "program/benchmarks.hpp"

namespace mallard::bench {
namespace {

TEST(MeasuredAllocators, OfDensityAreThePapersFourteenAndOthers) {
  std::map<std::string, std::string> columns;
  std::set<std::string> beyond;
  for (const measured_allocator& c : allocators_of(benchmark::density)) {
    const std::string form =
        c.strategy + " " + std::string(harness::name_of(c.bound)) + " " + std::string(name_of(c.ends));
    if (c.label.empty())
      beyond.insert(form);
    else
      columns[c.label] = form;
  }
  EXPECT_EQ(columns, (std::map<std::string, std::string>{{"AS1", "glibc malloc normal"},
                                                         {"AS2", "new_delete pmr normal"},
                                                         {"AS3", "monotonic typed normal"},
                                                         {"AS4", "monotonic typed winkout"},
                                                         {"AS5", "monotonic pmr normal"},
                                                         {"AS6", "monotonic pmr winkout"},
                                                         {"AS7", "multipool typed normal"},
                                                         {"AS8", "multipool typed winkout"},
                                                         {"AS9", "multipool pmr normal"},
                                                         {"AS10", "multipool pmr winkout"},
                                                         {"AS11", "multipool/monotonic typed normal"},
                                                         {"AS12", "multipool/monotonic typed winkout"},
                                                         {"AS13", "multipool/monotonic pmr normal"},
                                                         {"AS14", "multipool/monotonic pmr winkout"}}));
  for (const char* name :
       {"glibc-notrim", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc", "mallard", "mallard-checked"})
    EXPECT_TRUE(beyond.contains(std::string(name) + " malloc normal")) << name;
  for (const char* name : {"std.monotonic", "std.pool", "std.sync_pool", "boost.monotonic", "boost.pool",
                           "boost.sync_pool", "synchronized_multipool"})
    for (const char* ends : {"normal", "winkout"})
      EXPECT_TRUE(beyond.contains(std::string(name) + " pmr " + ends)) << name;
}

TEST(MeasuredAllocators, OtherPeoplesResourcesRunOverAMallocThatDoesNotTrim) {
  for (const measured_allocator& c : allocators_of(benchmark::density)) {
    if (!c.strategy.starts_with("std.") && !c.strategy.starts_with("boost.")) continue;
    ASSERT_NE(c.beneath, nullptr) << c.strategy;
    EXPECT_EQ(c.beneath->name, "glibc-notrim") << c.strategy;
  }
}

TEST(MeasuredAllocator, IsMeantByItsLabelAndByItsStrategy) {
  const measured_allocator c{"AS7", "multipool", binding::typed, destruction::normal, nullptr};
  EXPECT_TRUE(is_meant(c, "AS7"));
  EXPECT_TRUE(is_meant(c, "multipool"));
  EXPECT_FALSE(is_meant(c, "AS"));
  const measured_allocator unlabelled{"", "std.pool", binding::pmr, destruction::winkout, nullptr};
  EXPECT_FALSE(is_meant(unlabelled, ""));
  EXPECT_EQ(unlabelled.name(), "std.pool winkout");
  EXPECT_EQ(c.name(), "AS7 multipool");
}

}  // namespace
}  // namespace mallard::bench
