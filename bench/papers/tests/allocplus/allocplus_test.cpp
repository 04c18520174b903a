// The three benchmarks of seed 001, small: what their allocators are, measure and count.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "allocplus/allocplus.hpp"

namespace mallard::bench {
namespace {

// What each allocator with a label counted.
std::map<std::string, std::array<std::uint64_t, most_counts>> run_all(std::span<const measured_allocator> all,
                                                                      const setting& asked,
                                                                      std::size_t figures) {
  std::map<std::string, std::array<std::uint64_t, most_counts>> counted;
  for (const measured_allocator& c : all) {
    page p(asked);
    c.run(p);
    EXPECT_EQ(p.state, harness::work_state::done) << c.name();
    for (std::size_t i = 0; i < figures; ++i) EXPECT_TRUE(std::isfinite(p.found[i].warm_ns)) << c.name();
    if (!c.label.empty()) counted[c.label] = p.counted;
  }
  return counted;
}

std::set<std::string> labels(std::span<const measured_allocator> all) {
  std::set<std::string> found;
  for (const measured_allocator& c : all) found.insert(c.label);
  found.erase("");
  return found;
}

TEST(Allocplus, ComparesTheSeedsAllocatorsOfBoostAndOurs) {
  const std::set<std::string> plain{"Std",      "V1",        "V2",        "boost.V1",
                                    "boost.V2", "locked.V1", "locked.V2", "none"};
  std::set<std::string> expanding = plain;
  for (const char* masked : {"V2new", "V2bwd", "V2fwd"}) {
    expanding.insert(masked);
    expanding.insert(std::string("boost.") + masked);
  }
  std::set<std::string> bursting = plain;
  bursting.insert("V2one");
  EXPECT_EQ(labels(expansion_allocators()), expanding);
  EXPECT_EQ(labels(shrink_allocators()), plain);
  EXPECT_EQ(labels(burst_allocators()), bursting);
  for (const auto all : {expansion_allocators(), shrink_allocators(), burst_allocators()})
    EXPECT_EQ(all.front().label, "boost.V1");
}

TEST(Expansion, DoesWhatTheMaskOfEachAllocatorAllows) {
  setting asked;
  asked.which = benchmark::expansion;
  asked.expansion = {expansion_work::push_back, 300, 2};
  const auto counted = run_all(expansion_allocators(), asked, 1);
  constexpr std::size_t allocations = 0;
  constexpr std::size_t forward = 1;
  constexpr std::size_t backward = 2;
  constexpr std::size_t capacity = 3;
  for (const auto& [label, counts] : counted) {
    EXPECT_GE(counts[capacity], 300u) << label;
    EXPECT_GE(counts[allocations], 1u) << label;
  }
  for (const std::string of : {"", "boost."}) {
    const auto& v1 = counted.at(of + "V1");
    EXPECT_EQ(v1[allocations], counted.at("Std")[allocations]);
    EXPECT_EQ(v1[forward] + v1[backward], 0u);
    EXPECT_LT(counted.at(of + "V2new")[allocations], v1[allocations]);
    EXPECT_EQ(counted.at(of + "V2new")[forward] + counted.at(of + "V2new")[backward], 0u);
    EXPECT_EQ(counted.at(of + "V2bwd")[forward], 0u);
    EXPECT_EQ(counted.at(of + "V2fwd")[backward], 0u);
    EXPECT_GT(counted.at(of + "V2")[forward], 0u);
  }
  EXPECT_EQ(counted.at("none")[allocations], 1u);
}

TEST(Expansion, GrowsBlocksByTheCommandAlone) {
  setting asked;
  asked.which = benchmark::expansion;
  asked.expansion = {expansion_work::command, 600, 32};
  const auto counted = run_all(expansion_allocators(), asked, 1);
  using counts = std::array<std::uint64_t, most_counts>;
  const auto grown = [&](const char* label) {
    const counts& of = counted.at(label);
    return counts{of[0], of[1], of[2]};
  };
  for (const char* label : {"Std", "V1", "V2new", "boost.V1", "boost.V2new"})
    EXPECT_EQ(grown(label), (counts{1, 0, 0})) << label;
  for (const char* label : {"V2bwd", "boost.V2bwd"}) EXPECT_EQ(grown(label), (counts{0, 0, 1})) << label;
  for (const auto& [label, of] : counted) EXPECT_GE(of[3], 1200u) << label;
}

TEST(Shrink, IsInPlaceWhereTheAllocatorCan) {
  setting asked;
  asked.which = benchmark::shrink;
  asked.shrink = {100, 2};
  const auto counted = run_all(shrink_allocators(), asked, 1);
  for (const char* label : {"Std", "V1", "boost.V1"}) EXPECT_EQ(counted.at(label)[1], 0u) << label;
  EXPECT_EQ(counted.at("V1")[0], counted.at("Std")[0]);
  EXPECT_EQ(counted.at("V2")[0], 1u);
  EXPECT_EQ(counted.at("V2")[1], 19u);  // the twentieth has nothing left, and frees
  EXPECT_GT(counted.at("boost.V2")[1], 5u);
}

TEST(Shrink, RefusesWhatFiveDoesNotDivide) {
  EXPECT_EQ(fault_of(shrink_setting{500, 1}), "");
  EXPECT_NE(fault_of(shrink_setting{501, 1}), "");
}

TEST(Burst, AllocatesARangeAtOnceWhereTheAllocatorCan) {
  setting asked;
  asked.which = benchmark::burst;
  asked.burst = {50, 4};
  const auto counted = run_all(burst_allocators(), asked, 2);
  for (const char* label : {"Std", "V1", "boost.V1"}) EXPECT_EQ(counted.at(label)[0], 200u) << label;
  for (const char* label : {"V2", "boost.V2"}) {
    EXPECT_EQ(counted.at(label)[0], 0u) << label;
    EXPECT_EQ(counted.at(label)[1], 4u) << label;
  }
}

}  // namespace
}  // namespace mallard::bench
