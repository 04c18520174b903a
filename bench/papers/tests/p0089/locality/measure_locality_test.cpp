#include "p0089/locality/measure_locality.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>

#include "common/typed_bindings.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard::bench {
namespace {

page asked_for(locality_setting locality) {
  setting asked;
  asked.which = benchmark::locality;
  asked.locality = locality;
  return page(asked);
}

template <class Binding>
page measured(const locality_setting& locality) {
  page p = asked_for(locality);
  Binding binding;
  EXPECT_NE(measure_locality(binding, p), nullptr);
  EXPECT_EQ(p.state, harness::work_state::done);
  return p;
}

std::size_t found(const page& p) {
  std::size_t n = 0;
  for (const figure& f : p.found) n += f.warm_ns > 0;
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
