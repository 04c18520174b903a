#include "common/measured_allocator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "common/block_sizes.hpp"
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
  for (const char* name : {"lifo_multipool", "sized_reap"})
    for (const char* bound : {" pmr ", " typed "})
      for (const char* ends : {"normal", "winkout"})
        EXPECT_TRUE(beyond.contains(std::string(name) + bound + ends)) << name << bound << ends;
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

std::map<std::size_t, std::size_t> sizes_of(const harness::litter_plan& plan) {
  std::map<std::size_t, std::size_t> sizes;
  for (const harness::size_weight& s : plan.sizes) sizes[s.size] = s.weight;
  return sizes;
}

TEST(BlockSizes, AreThoseOfLiveBlocks) {
  block_sizes blocks;
  (void)blocks.allocate(48, 8);
  (void)blocks.allocate(48, 8);
  (void)blocks.allocate(100, 8);
  void* const ended = blocks.allocate(200, 8);
  blocks.deallocate(ended, 200, 8);
  const harness::litter_plan plan = blocks.plan(3);
  EXPECT_EQ(sizes_of(plan), (std::map<std::size_t, std::size_t>{{48, 2}, {100, 1}}));
  EXPECT_EQ(plan.live, 3u);
  EXPECT_EQ(plan.times, 3u);
}

TEST(BlockSizes, LeaveOutWhatMallocsMapByItself) {
  block_sizes blocks;
  (void)blocks.allocate(block_sizes::largest, 8);
  (void)blocks.allocate(block_sizes::largest + 1, 8);
  EXPECT_EQ(blocks.plan(1).live, 1u);
}

TEST(CountBlocks, OfASetAreItsNodesAndItsTable) {
  setting asked;
  asked.density = {3, 6, 20, true};
  block_sizes blocks;
  count_blocks(asked, blocks);
  const auto sizes = sizes_of(blocks.plan(1));
  EXPECT_EQ(sizes.at(16), 64u) << "a node: a pointer and a number";
  EXPECT_EQ(sizes.size(), 3u) << "nodes, the table, and the set itself";
}

}  // namespace
}  // namespace mallard::bench
