#include "p0089/locality/measure_locality.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>

#include "mallard/heap/multipool.hpp"
#include "p0089/way/global.hpp"
#include "p0089/way/typed.hpp"

namespace mallard::p0089 {
namespace {

page asked_for(locality_setting locality) {
  setting asked;
  asked.which = benchmark::locality;
  asked.locality = locality;
  return page(asked);
}

template <class Way>
page measured(const locality_setting& locality) {
  page p = asked_for(locality);
  Way way;
  EXPECT_NE(measure_locality(way, p), nullptr);
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
  const page p = measured<typed_way<multipool>>(small);
  EXPECT_EQ(found(p), figures_of(small).size());
  EXPECT_GT(p.found[0].cold_ns, 0);
  EXPECT_EQ(p.found[0].wall_ns, 0);
}

TEST(MeasureLocality, FindsAFigureForEachFactor) {
  locality_setting small;
  small.table = locality_table::factors;
  small.global = 3;
  small.subsystem = 1;
  small.shuffles = 4;
  small.accesses = 4096;
  const page p = measured<global_way>(small);
  EXPECT_EQ(found(p), 5u);
}

TEST(MeasureLocality, MeasuresASubsystemThatIsMoreThanTheAccesses) {
  locality_setting small;
  small.global = 12;
  small.subsystem = 12;
  small.accesses = 1;
  const page p = measured<global_way>(small);
  EXPECT_EQ(found(p), figures_of(small).size());
}

TEST(MeasureLocality, TellsTheParts) {
  locality_setting one;
  one.table = locality_table::run;
  one.run = {1024, 16, 2, 3, 4, false};
  const page p = measured<global_way>(one);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < run_parts.size(); ++i)
    sum += p.found[i].warm_ns * static_cast<double>(events_of(run_parts[i], one.run));
  EXPECT_NEAR(p.found[run_parts.size() - 1].warm_ns, sum, 1);
}

TEST(MeasureLocality, TakesARunWithoutAccessesOrWithoutVisits) {
  for (const locality_run run : {locality_run{64, 8, 0, 5, 2, false}, locality_run{64, 8, 2, 0, 0, true}}) {
    locality_setting one;
    one.table = locality_table::run;
    one.run = run;
    const page p = measured<global_way>(one);
    EXPECT_GT(p.found[run_parts.size() - 1].warm_ns, 0);
  }
}

}  // namespace
}  // namespace mallard::p0089
