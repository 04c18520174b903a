#include "p0089/locality/locality.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/page.hpp"
#include "common/typed_bindings.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard::bench {

bool operator==(const locality_run& a, const locality_run& b) {
  return a.global == b.global && a.subsystem == b.subsystem && a.access == b.access &&
         a.shuffle == b.shuffle && a.repeat == b.repeat && a.access_first == b.access_first;
}

std::ostream& operator<<(std::ostream& out, const locality_run& r) {
  return out << r.global << ' ' << r.subsystem << ' ' << r.access << ' ' << (r.access_first ? '-' : '+')
             << r.shuffle << ' ' << r.repeat;
}

namespace {

locality_setting of_splits(std::uint32_t global, std::uint32_t subsystem) {
  locality_setting asked;
  asked.global = global;
  asked.subsystem = subsystem;
  return asked;
}

locality_setting of_factors(std::uint32_t global, std::uint32_t subsystem) {
  locality_setting asked = of_splits(global, subsystem);
  asked.table = locality_table::factors;
  return asked;
}

locality_setting of_run(locality_run run) {
  locality_setting asked;
  asked.table = locality_table::run;
  asked.run = run;
  return asked;
}

const measured_allocator& named(const char* name) {
  for (const measured_allocator& c : locality_allocators())
    if (is_meant(c, name)) return c;
  throw std::runtime_error(name);
}

TEST(Locality, SizesAreExponentsOfTwoOrOfTen) {
  EXPECT_EQ(extent_of(of_splits(21, 12)).global, std::uint64_t{1} << 21);
  EXPECT_EQ(extent_of(of_splits(21, 12)).subsystem, std::uint64_t{1} << 12);
  EXPECT_EQ(extent_of(of_factors(7, 0)).global, 10'000'000u);
  EXPECT_EQ(extent_of(of_factors(7, 0)).subsystem, 1u);
  EXPECT_EQ(extent_of(of_run({30, 7, 1, 1, 1, false})).subsystem, 7u);
}

TEST(Locality, NamesEachGroup) {
  EXPECT_EQ(group_of(of_splits(21, 12)).dump(),
            R"({"table":"splits","global":21,"subsystem":12,"shuffles":5,"product":8})");
  EXPECT_EQ(group_of(of_factors(7, 3)).dump(),
            R"({"table":"factors","global":7,"subsystem":3,"shuffles":5,"access":10})");
  EXPECT_EQ(
      group_of(of_run({16, 4, 2, 3, 0, true})).dump(),
      R"({"table":"run","global":16,"subsystem":4,"access":2,"shuffles":3,"repeat":0,"access_first":true})");
}

TEST(Locality, HasAFigureForEachSplitBeforeAndAfterTheShuffle) {
  locality_setting asked = of_splits(10, 4);
  asked.product = 1;
  std::string names;
  for (const auto& f : figures_of(asked)) names += f.dump();
  EXPECT_EQ(names, R"({"split":0,"shuffled":false}{"split":1,"shuffled":false})"
                   R"({"split":0,"shuffled":true}{"split":1,"shuffled":true})");
}

TEST(Locality, HasAFigureForEachFactorFromNoneOn) {
  locality_setting asked = of_factors(3, 1);
  asked.shuffles = 2;
  std::string names;
  for (const auto& f : figures_of(asked)) names += f.dump();
  EXPECT_EQ(names, R"({"factor":0}{"factor":1}{"factor":2})");
}

TEST(Locality, HasAFigureForEachPartOfARun) {
  std::string names;
  for (const auto& f : figures_of(of_run({16, 4, 2, 3, 5, false}))) names += f.dump();
  EXPECT_EQ(names, R"({"part":"build","events":16}{"part":"shuffle","events":48})"
                   R"({"part":"access","events":160}{"part":"total","events":1})");
}

TEST(Locality, CountsTheLinksOfWholeSubsystems) {
  const locality_setting asked = of_run({10, 4, 2, 3, 5, false});
  EXPECT_EQ(extent_of(asked).global, 8u);
  EXPECT_EQ(events_of(run_part::build, asked.run), 8u);
  EXPECT_EQ(events_of(run_part::shuffle, asked.run), 3u * 8);
  EXPECT_EQ(events_of(run_part::access, asked.run), 2u * 5 * 8);
}

TEST(Locality, RefusesMoreFiguresThanAPageHas) {
  locality_setting most = of_splits(18, 1);
  most.product = most_figures / 2 - 1;
  EXPECT_EQ(fault_of(most), "");
  ++most.product;
  EXPECT_EQ(fault_of(most), "66 figures; a group has 64 at most");
  most = of_factors(7, 1);
  most.shuffles = most_figures - 1;
  EXPECT_EQ(fault_of(most), "");
  ++most.shuffles;
  EXPECT_EQ(fault_of(most), "65 figures; a group has 64 at most");
}

TEST(Locality, SaysWhatIsSubtracted) {
  EXPECT_TRUE(method_of(of_splits(18, 4)).contains("net"));
  EXPECT_TRUE(method_of(of_factors(7, 4)).contains("net"));
  EXPECT_FALSE(method_of(of_run({16, 4, 2, 3, 5, false})).contains("net"));
}

TEST(Locality, RefusesASubsystemLargerThanTheWhole) {
  EXPECT_EQ(fault_of(of_splits(12, 12)), "");
  EXPECT_NE(fault_of(of_splits(12, 13)), "");
  EXPECT_EQ(fault_of(of_factors(7, 7)), "");
  EXPECT_NE(fault_of(of_factors(7, 8)), "");
  EXPECT_NE(fault_of(of_factors(40, 8)), "");
}

TEST(Locality, CountsAHeapASubsystemWhereThatIsTheStrategy) {
  const std::uint64_t few = bytes_needed(of_splits(21, 21), named("AS7"));
  const std::uint64_t many = bytes_needed(of_splits(21, 0), named("AS7"));
  EXPECT_GT(few, 24u << 21) << "the links themselves";
  EXPECT_GT(many - few, std::uint64_t{4096} << 21) << "a page each at least";
  EXPECT_LT(bytes_needed(of_splits(21, 0), named("AS1")), std::uint64_t{128} << 21);
  EXPECT_GT(bytes_needed(of_splits(25, 0), named("std.pool")), std::uint64_t{32} << 30);
}

TEST(LocalityAllocators, HaveOneMallocForAllOrAHeapEach) {
  std::string all;
  for (const measured_allocator& c : locality_allocators())
    all += c.name() + (c.bound == binding::malloc ? " for all, " : " each, ");
  EXPECT_EQ(all,
            "AS1 glibc for all, AS7 multipool each, AS9 multipool each, fifo_multipool each, glibc-notrim "
            "for all, jemalloc for all, "
            "tcmalloc for all, mimalloc for all, tbbmalloc for all, mallard for all, mallard-checked for "
            "all, std.pool each, "
            "boost.pool each, ");
}

TEST(LocalityNotation, ReadsEveryExampleOfThePaper) {
  const std::array<std::pair<const char*, locality_run>, 8> examples{{
      {"-20 18 32 -3 8", {1 << 20, 1 << 18, 32, 3, 8, true}},
      {"-20 18 32 +3 8", {1 << 20, 1 << 18, 32, 3, 8, false}},
      {"-20 18 8 +3 32", {1 << 20, 1 << 18, 8, 3, 32, false}},
      {"-21 18 8 +3 32", {1 << 21, 1 << 18, 8, 3, 32, false}},
      {"-21 19 8 +3 32", {1 << 21, 1 << 19, 8, 3, 32, false}},
      {"-21 19 8 +5 32", {1 << 21, 1 << 19, 8, 5, 32, false}},
      {"-21 19 0 +5 32", {1 << 21, 1 << 19, 0, 5, 32, false}},
      {"-21 19 8 +5 0", {1 << 21, 1 << 19, 8, 5, 0, false}},
  }};
  for (const auto& [text, run] : examples) {
    ASSERT_TRUE(parse_run(text)) << text;
    EXPECT_EQ(*parse_run(text), run) << text;
  }
}

TEST(LocalityNotation, TakesSizesAsTheyAreWhereTheFirstIsPositive) {
  ASSERT_TRUE(parse_run("10000000 1000 10 5 1"));
  EXPECT_EQ(*parse_run("10000000 1000 10 5 1"), (locality_run{10'000'000, 1000, 10, 5, 1, false}));
}

TEST(LocalityNotation, IsFreeInItsBlanks) {
  ASSERT_TRUE(parse_run("  -4\t2 1  0 1 "));
  EXPECT_EQ(*parse_run("  -4\t2 1  0 1 "), (locality_run{16, 4, 1, 0, 1, false}));
}

TEST(LocalityNotation, RefusesWhatIsNoRun) {
  for (const char* text :
       {"", "-20", "-20 18 8 3", "-20 18 8 3 32 1", "-20 18 8 3 x", "-20 18 8 +-3 32", "-20 18 8 3 32!",
        "-20 21 8 3 32", "-20 -1 8 3 32", "16 17 1 1 1", "0 0 1 1 1", "16 0 1 1 1", "-41 1 1 1 1",
        "-20 18 -8 3 32", "-20 18 8 3 -32", "-20 18 8 3 99999999999999999999", "20 18,8,3 32"})
    EXPECT_FALSE(parse_run(text)) << text;
}

constexpr double nothing = -1;

page asked_for(locality_setting locality) {
  setting asked;
  asked.which = benchmark::locality;
  asked.locality = locality;
  page p(asked);
  for (figure& f : p.found) f.warm_ns = nothing;
  return p;
}

template <class Binding>
page measured(const locality_setting& locality) {
  page p = asked_for(locality);
  Binding binding;
  EXPECT_NE(measure_locality(binding, p), nullptr);
  EXPECT_EQ(p.state, harness::work_state::done);
  return p;
}

// A figure may be 0, where the processor was lost while only going round.
std::size_t found(const page& p) {
  std::size_t n = 0;
  for (const figure& f : p.found) n += f.warm_ns != nothing;
  return n;
}

TEST(MeasureLocality, FindsAFigureForEachSplit) {
  locality_setting small;
  small.global = 10;
  small.subsystem = 4;
  small.product = 3;
  small.accesses = 4096;
  const page p = measured<typed_binding<multipool>>(small);
  EXPECT_EQ(found(p), figures_of(small).size());
  EXPECT_GT(p.found[0].cold_ns, 0);
  EXPECT_FALSE(p.found[0].wall_ns);
}

// Of which everything is known: 100 ns to go to a subsystem, 3 ns an access, four links each.
class known_system {
 public:
  [[nodiscard]] std::size_t subsystems() const { return 8; }

  visit_times visit(std::uint64_t visits, std::uint64_t walks) {
    if (walks != 0) ++series_;
    const auto accesses = 4 * visits * walks;
    return {accesses, static_cast<double>(accesses * 3 + visits * 100)};
  }
  visit_times visit_in_part(std::uint64_t walks, std::uint64_t) {
    return {4 * walks, static_cast<double>(4 * walks * 3)};
  }

  [[nodiscard]] int series() const { return series_; }

 private:
  int series_ = 0;
};

TEST(MeasureLocality, SubtractsWhatItTakesToGoRound) {
  const extent of{32, 4};
  for (const std::uint64_t walks : {1u, 16u, 256u}) {
    known_system all;
    EXPECT_EQ(ns_per_access(all, of, walks, 1 << 12), 3) << walks;
    EXPECT_EQ(all.series(), 1);
  }
  known_system all;
  EXPECT_EQ(ns_per_access(all, of, 1 << 11, 1 << 12), 3) << "where only a part of the walks is made";
  EXPECT_EQ(first_ns_per_access(all, of, 1 << 12), 3);
}

TEST(MeasureLocality, FindsNothingRatherThanLessThanNothing) {
  struct : known_system {
    visit_times visit(std::uint64_t visits, std::uint64_t walks) {
      return {4 * visits * walks, walks == 0 ? 50.0 : 40.0};
    }
  } disturbed;
  EXPECT_EQ(ns_per_access(disturbed, {32, 4}, 1, 1 << 12), 0);
}

TEST(MeasureLocality, FindsAFigureForEachFactor) {
  locality_setting small;
  small.table = locality_table::factors;
  small.global = 3;
  small.subsystem = 1;
  small.shuffles = 4;
  small.accesses = 4096;
  const page p = measured<global_binding>(small);
  EXPECT_EQ(found(p), 5u);
}

TEST(MeasureLocality, MeasuresASubsystemThatIsMoreThanTheAccesses) {
  locality_setting small;
  small.global = 12;
  small.subsystem = 12;
  small.accesses = 1;
  const page p = measured<global_binding>(small);
  EXPECT_EQ(found(p), figures_of(small).size());
}

TEST(MeasureLocality, TellsTheParts) {
  locality_setting one;
  one.table = locality_table::run;
  one.run = {1024, 16, 2, 3, 4, false};
  const page p = measured<global_binding>(one);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < run_parts.size(); ++i)
    sum += p.found[i].warm_ns * static_cast<double>(events_of(run_parts[i], one.run));
  EXPECT_NEAR(p.found[run_parts.size() - 1].warm_ns, sum, 1);
  for (std::size_t i = 0; i < run_parts.size(); ++i) EXPECT_FALSE(p.found[i].cold_ns) << "nothing is first";
}

TEST(MeasureLocality, TakesARunWithoutAccessesOrWithoutVisits) {
  for (const locality_run run : {locality_run{64, 8, 0, 5, 2, false}, locality_run{64, 8, 2, 0, 0, true}}) {
    locality_setting one;
    one.table = locality_table::run;
    one.run = run;
    const page p = measured<global_binding>(one);
    EXPECT_GT(p.found[run_parts.size() - 1].warm_ns, 0);
  }
}

}  // namespace

}  // namespace mallard::bench
