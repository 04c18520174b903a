// A session starts this program again, as a worker.
#include "program/group_session.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "parsed_arguments.hpp"
#include "program/arguments.hpp"

namespace mallard::bench {
namespace {

setting small() {
  setting asked;
  asked.density = {3, 4, 6, true};
  return asked;
}

TEST(Session, HasTheFirstAllocatorTwiceWhateverIsAskedFor) {
  const group_session one(small(), {{"AS7"}, 1, 1u << 30});
  std::vector<std::string> labels;
  for (const row& r : one.rows()) labels.push_back(r.of->label + (r.repeated ? " again" : ""));
  EXPECT_EQ(labels, (std::vector<std::string>{"AS1", "AS7", "AS1 again"}));
}

TEST(Session, TakesEveryFormOfAStrategy) {
  const group_session one(small(), {{"multipool"}, 1, 1u << 30});
  EXPECT_EQ(one.rows().size(), 1u + 4 + 1);
}

TEST(Session, SkipsWhatCannotFitTheLimit) {
  setting asked;
  asked.density = {12, 16, 4, true};
  group_session one(asked, {{"AS7"}, 1, 1u << 20});
  one.run();
  for (const row& r : one.rows()) {
    EXPECT_EQ(r.status, harness::row_status::skipped);
    if (r.of->bound != binding::malloc) {
      EXPECT_NE(r.reason.find("the limit is 1.00 MiB"), std::string::npos) << r.reason;
    }
    EXPECT_FALSE(r.measured());
  }
  EXPECT_FALSE(one.any_failed());
}

// A row of which each figure has three rounds, `width` apart of their median.
row with_widths(std::initializer_list<double> widths) {
  row r(allocators_of(benchmark::density)[0], 0, false);
  for (const double width : widths) {
    const double reach = 100 * width / 1.6;  // of the outer two; a spread leaves out a tenth at each end
    r.figures.push_back({{1, 100, 1000}, {100 - reach, 100, 100 + reach}, {}});
  }
  r.page_faults = {1, 1, 1};
  return r;
}

TEST(Rounds, AreAskedForByAWideSpread) {
  EXPECT_TRUE(is_wide(with_widths({0.11})));
  EXPECT_FALSE(is_wide(with_widths({0.09})));
  row by_the_clock = with_widths({0.01});
  by_the_clock.figures[0].wall_ns = {50, 100, 150};
  EXPECT_TRUE(is_wide(by_the_clock));
  row unmeasured = with_widths({0.5});
  unmeasured.figures[0] = {};
  EXPECT_FALSE(is_wide(unmeasured));
}

TEST(Rounds, AreNotAskedForByOneOfManyFigures) {
  EXPECT_FALSE(is_wide(with_widths({0.01, 0.9, 0.02})));
  EXPECT_TRUE(is_wide(with_widths({0.01, 0.9, 0.2})));
}

TEST(Rounds, EndWhereTurnsLastLong) {
  row first = with_widths({0});
  row wide = with_widths({0.9});
  first.took = wide.took = most_time_for_more - std::chrono::nanoseconds(1);
  EXPECT_TRUE(wants_more(wide, first));
  EXPECT_FALSE(wants_more(first, first));
  wide.took = most_time_for_more;
  EXPECT_FALSE(wants_more(wide, first));
  std::swap(wide.took, first.took);
  EXPECT_FALSE(wants_more(wide, first)) << "AS1 takes part in each round";
}

TEST(Session, CountsTheTimeOfItsTurns) {
  group_session one(small(), {{"AS7"}, 2, 1u << 30});
  one.run();
  for (const row& r : one.rows()) EXPECT_EQ(r.took.count() > 0, r.measured());
}

}  // namespace

auto parse(std::vector<std::string> arguments) {
  return test::parsed(parse_arguments, "mallard-bench", std::move(arguments));
}

TEST(Arguments, OfDensityAreUnderstood) {
  const auto p = parse({"density", "--structure", "12", "--size", "16", "--leaves", "27", "--uncached-hashes",
                        "--rounds", "7", "--strategy", "AS7", "--strategy", "std.pool", "--memory-limit",
                        "512M", "--litter", "3"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->asked.which, benchmark::density);
  EXPECT_EQ(p.asked->asked.density.structure, 12u);
  EXPECT_EQ(p.asked->asked.density.size, 16u);
  EXPECT_EQ(p.asked->asked.density.leaves, 27u);
  EXPECT_FALSE(p.asked->asked.density.cached_hashes);
  EXPECT_EQ(p.asked->asked.litter, 3u);
  EXPECT_EQ(p.asked->options.rounds, 7u);
  EXPECT_EQ(p.asked->options.names, (std::vector<std::string>{"AS7", "std.pool"}));
  EXPECT_EQ(p.asked->options.memory_limit, 512u << 20);
}

TEST(Arguments, OfUtilizationAreUnderstood) {
  const auto p = parse({"utilization", "--total", "35", "--active", "20", "--block", "11"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->asked.which, benchmark::utilization);
  EXPECT_EQ(p.asked->asked.utilization.total, 35u);
  EXPECT_EQ(p.asked->asked.utilization.active, 20u);
  EXPECT_EQ(p.asked->asked.utilization.block, 11u);
}

TEST(Arguments, OfContentionAreUnderstood) {
  const auto p = parse({"contention", "--iterations", "19", "--block", "8", "--threads", "4", "--strategy",
                        "locked multipool"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->asked.which, benchmark::contention);
  EXPECT_EQ(p.asked->asked.contention.iterations, 19u);
  EXPECT_EQ(p.asked->asked.contention.block, 8u);
  EXPECT_EQ(p.asked->asked.contention.threads, 4u);
}

TEST(Arguments, OfLocalityAreUnderstood) {
  const auto splits = parse({"locality", "--global", "21", "--subsystem", "12", "--shuffles", "3",
                             "--product", "10", "--accesses", "1000"});
  ASSERT_TRUE(splits.asked) << splits.complaint;
  const locality_setting& asked = splits.asked->asked.locality;
  EXPECT_EQ(asked.table, locality_table::splits);
  EXPECT_EQ(asked.global, 21u);
  EXPECT_EQ(asked.subsystem, 12u);
  EXPECT_EQ(asked.shuffles, 3u);
  EXPECT_EQ(asked.product, 10u);
  EXPECT_EQ(asked.accesses, 1000u);
}

TEST(Arguments, OfFactorsHaveDecimalDefaults) {
  const auto factors = parse({"locality", "--table", "factors", "--subsystem", "4"});
  ASSERT_TRUE(factors.asked) << factors.complaint;
  EXPECT_EQ(factors.asked->asked.locality.table, locality_table::factors);
  EXPECT_EQ(factors.asked->asked.locality.global, 7u);
  EXPECT_EQ(factors.asked->asked.locality.subsystem, 4u);
}

TEST(Arguments, TakeARunInThePapersNotation) {
  const auto run = parse({"locality", "--run", "-21 18 8 +3 32"});
  ASSERT_TRUE(run.asked) << run.complaint;
  EXPECT_EQ(run.asked->asked.locality.table, locality_table::run);
  EXPECT_EQ(run.asked->asked.locality.run.global, 1u << 21);
  EXPECT_EQ(run.asked->asked.locality.run.shuffle, 3u);
}

TEST(Arguments, HaveDefaults) {
  const auto p = parse({"density"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->options.rounds, 5u);
  EXPECT_TRUE(p.asked->options.names.empty());
  EXPECT_GT(p.asked->options.memory_limit, 0u);
  EXPECT_EQ(p.asked->asked.litter, 0u);
}

TEST(Arguments, ThatMeanNothingAreOneLineAndExitCodeTwo) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"diversity"},
                                             {"density", "--structure", "13"},
                                             {"density", "--structure", "0"},
                                             {"density", "--size", "-1"},
                                             {"density", "--size", "six"},
                                             {"density", "--structure", "4", "--size", "17"},
                                             {"contention", "--litter", "3"},
                                             {"density", "--rounds", "0"},
                                             {"density", "--memory-limit", "much"},
                                             {"locality", "--subsystem", "19", "--global", "18"},
                                             {"locality", "--table", "splat"},
                                             {"locality", "--run", "-21 18 8"},
                                             {"density", "--strategy", "AS15"},
                                             {"utilization", "--active", "9"},
                                             {"utilization", "--total", "15"},
                                             {"utilization", "--strategy", "AS4"},
                                             {"contention", "--threads", "0"},
                                             {"contention", "--threads", "65"}}) {
    test::complaint(parse_arguments, "mallard-bench", wrong);
  }
}

}  // namespace mallard::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], mallard::bench::worker_flag) == 0)
    mallard::bench::be_worker(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
