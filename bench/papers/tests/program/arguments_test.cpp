#include "program/arguments.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "parsed_arguments.hpp"

namespace mallard::bench {
namespace {

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

}  // namespace
}  // namespace mallard::bench
