// The three benchmarks of seed 001, small: what their allocators are, measure and count.
#include <gtest/gtest.h>

#include <boost/container/list.hpp>
#include <boost/container/vector.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "allocplus/allocplus.hpp"
#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/counted_allocator.hpp"
#include "allocplus/floors.hpp"
#include "mallard/heap/best_fit.hpp"

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

// What a vector of 500 that loses its last half, then is fitted, asks for.
template <class Binding>
tally asked_by_vector() {
  Binding binding(0);
  tally counts;
  counted_allocator<int, Binding> from(binding.template allocator_of<int>(), counts);
  {
    boost::container::vector<int, counted_allocator<int, Binding>> made(from);
    for (int i = 0; i < 500; ++i) made.push_back(i);
    made.resize(250);
    made.shrink_to_fit();
    for (int i = 0; i < 250; ++i) EXPECT_EQ(made[static_cast<std::size_t>(i)], i);
  }
  return counts;
}

template <class Binding>
tally asked_by_list() {
  Binding binding(0);
  tally counts;
  counted_allocator<int, Binding> from(binding.template allocator_of<int>(), counts);
  {
    boost::container::list<int, counted_allocator<int, Binding>> made(from);
    made.insert(made.end(), 7, 1);
    made.push_back(2);
    EXPECT_EQ(made.size(), 8u);
  }
  return counts;
}

TEST(CountedAllocator, CountsAllocationsOfPlainAllocators) {
  const tally standard = asked_by_vector<std_binding>();
  EXPECT_GT(standard.allocations, 5u);
  EXPECT_EQ(standard.forward + standard.backward + standard.shrinks + standard.bursts, 0u);
  EXPECT_EQ(asked_by_vector<v1_binding<best_fit>>().allocations, standard.allocations);
  EXPECT_EQ(asked_by_vector<boost_binding<1>>().allocations, standard.allocations);
}

TEST(CountedAllocator, CountsExpansionsAndShrinks) {
  for (const tally& counts : {asked_by_vector<v2_binding<best_fit>>(), asked_by_vector<boost_binding<2>>()}) {
    EXPECT_EQ(counts.allocations, 1u);
    EXPECT_GT(counts.forward, 4u);
    EXPECT_EQ(counts.backward, 0u);
    EXPECT_EQ(counts.shrinks, 1u);
  }
}

TEST(CountedAllocator, FindsNothingDoneThatIsDisabled) {
  const tally ours = asked_by_vector<v2_binding<best_fit, commands::expand_fwd | commands::expand_bwd>>();
  const tally theirs = asked_by_vector<boost_binding<2, commands::expand_fwd | commands::expand_bwd>>();
  for (const tally& counts : {ours, theirs}) {
    EXPECT_GT(counts.allocations, 3u);
    EXPECT_EQ(counts.forward + counts.backward, 0u);
  }
}

TEST(CountedAllocator, CountsBurstsOnce) {
  for (const tally& counts : {asked_by_list<v2_binding<best_fit>>(), asked_by_list<boost_binding<2>>()}) {
    EXPECT_EQ(counts.bursts, 1u);
    EXPECT_EQ(counts.allocations, 1u);
  }
  EXPECT_EQ(asked_by_list<v1_binding<best_fit>>().allocations, 8u);
}

TEST(OnePlace, IsAskedOnceByAVectorThatGrowsAndNeverMovesIt) {
  v2_binding<one_place> binding(1000 * sizeof(int));
  using allocator = counted_allocator<int, v2_binding<one_place>>;
  tally counts;
  boost::container::vector<int, allocator> made(allocator(binding.allocator_of<int>(), counts));
  made.push_back(0);
  const int* const place = made.data();
  for (int i = 1; i < 1000; ++i) made.push_back(i);
  EXPECT_EQ(made.data(), place);
  EXPECT_EQ(counts.allocations, 1u);
  EXPECT_EQ(counts.forward, 0u);
  made.resize(10);
  made.shrink_to_fit();
  EXPECT_EQ(made.capacity(), 10u);
  EXPECT_EQ(made[9], 9);
}

TEST(PlacesInRow, KeepsWhatAListHasAndBeginsAnewWhenItIsEmpty) {
  v2_binding<places_in_row> binding(100 * 3 * sizeof(void*));
  using list = boost::container::list<int, v2_allocator<int, places_in_row>>;
  const int* first = nullptr;
  for (int turn = 0; turn < 3; ++turn) {
    list made(binding.allocator_of<int>());
    made.insert(made.end(), 60, turn);
    made.push_back(turn);
    made.insert(made.end(), 39, turn);
    EXPECT_EQ(std::accumulate(made.begin(), made.end(), 0), 100 * turn);
    if (turn == 0) first = &made.front();
    EXPECT_EQ(&made.front(), first);
    made.erase(made.begin(), std::next(made.begin(), 50));
    made.pop_front();
  }
}

TEST(PlacesAnew, UsesNothingTwiceBeforeItBeginsAnew) {
  places_anew places(10 * 24);
  void* const first = places.allocate(24, 8).data;
  places.deallocate(first, 24, 8);
  void* const second = places.allocate(20, 4).data;
  EXPECT_EQ(static_cast<std::byte*>(second), static_cast<std::byte*>(first) + 24);
  EXPECT_EQ(static_cast<std::byte*>(places.allocate(24, 8).data), static_cast<std::byte*>(second) + 24);
  places.begin_anew();
  EXPECT_EQ(places.allocate(24, 8).data, first);
}

}  // namespace
}  // namespace mallard::bench
