#include "replay/command_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "parsed_arguments.hpp"

namespace mallard::replay {
namespace {

auto parse(std::vector<std::string> arguments) {
  return test::parsed(parse_command_line, "mallard-replay", std::move(arguments));
}

TEST(CommandLine, DefaultsMeasureEverythingInFiveRounds) {
  const auto p = parse({"run.mallard"});
  ASSERT_TRUE(p.asked);
  EXPECT_EQ(p.asked->file, "run.mallard");
  EXPECT_TRUE(p.asked->options.names.empty());
  EXPECT_EQ(p.asked->options.rounds, 5u);
  EXPECT_EQ(p.asked->options.touched, touch::first);
  EXPECT_GT(p.asked->options.memory_limit, 0u);
  EXPECT_EQ(p.asked->options.litter, 0u);
  EXPECT_FALSE(p.asked->options.shift);
  EXPECT_FALSE(p.asked->options.curve);
  EXPECT_FALSE(p.asked->json);
}

TEST(CommandLine, RegionsAreReplayedWhereTheyAreAskedFor) {
  EXPECT_EQ(parse({"run.mallard"}).asked->of, subject::blocks);
  const auto p = parse({"--regions", "--shift", "--strategy", "talloc", "run.mallard"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->of, subject::regions);
  EXPECT_TRUE(p.asked->options.shift);

  EXPECT_FALSE(parse({"--regions", "--strategy", "multipool", "run.mallard"}).asked);
  EXPECT_FALSE(parse({"--strategy", "talloc", "run.mallard"}).asked);
}

TEST(CommandLine, EveryOptionIsUnderstood) {
  const auto p =
      parse({"--strategy",   "jemalloc", "--strategy", "multipool",   "run.mallard", "--binding",
             "pmr",          "--rounds", "9",          "--warm-time", "0.5",         "--memory-limit",
             "512M",         "--touch",  "all",        "--litter",    "10",          "--json",
             "--check-only", "-o",       "run.json",   "--shift",     "--curve"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->options.names, (std::vector<std::string>{"jemalloc", "multipool"}));
  EXPECT_EQ(p.asked->options.only_binding, binding::pmr);
  EXPECT_EQ(p.asked->options.rounds, 9u);
  EXPECT_EQ(p.asked->options.warm_ns, 500'000'000u);
  EXPECT_EQ(p.asked->options.memory_limit, 512u << 20);
  EXPECT_EQ(p.asked->options.touched, touch::all);
  EXPECT_EQ(p.asked->options.litter, 10u);
  EXPECT_TRUE(p.asked->json);
  EXPECT_TRUE(p.asked->options.check_only);
  EXPECT_TRUE(p.asked->options.shift);
  EXPECT_TRUE(p.asked->options.curve);
  EXPECT_EQ(p.asked->output, "run.json");
}

TEST(CommandLine, LatencyHasPassesAndIsOfBlocks) {
  EXPECT_EQ(parse({"x"}).asked->options.latency_passes, 0u);
  EXPECT_EQ(parse({"x", "--latency"}).asked->options.latency_passes, 30u);
  const auto p = parse({"x", "--latency", "--passes", "7", "--litter", "3", "--touch", "all"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->options.latency_passes, 7u);

  EXPECT_EQ(parse({"x", "--latency", "--regions"}).complaint,
            "mallard-replay: --latency times operations on blocks: leave --regions out\n");
  EXPECT_EQ(parse({"x", "--latency", "--check-only"}).complaint,
            "mallard-replay: --check-only measures nothing: leave --latency out\n");
  EXPECT_EQ(parse({"x", "--passes", "7"}).complaint, "mallard-replay: --passes requires --latency\n");
  for (const char* passes : {"0", "-1", "many", "100001"})
    EXPECT_NE(parse({"x", "--latency", "--passes", passes}).complaint.find("--passes"), std::string::npos)
        << passes;
}

TEST(CommandLine, APartHasAMallocAroundItAndStrategiesOfItsOwn) {
  EXPECT_EQ(parse({"x"}).asked->options.baseline, nullptr);
  const auto p = parse({"x", "--part", "routes", "--strategy", "reap", "--strategy", "stack"});
  ASSERT_TRUE(p.asked) << p.complaint;
  EXPECT_EQ(p.asked->part, "routes");
  EXPECT_EQ(p.asked->options.baseline->name, "glibc");
  EXPECT_EQ(parse({"x", "--part", "routes", "--baseline", "jemalloc"}).asked->options.baseline->name,
            "jemalloc");
  EXPECT_TRUE(parse({"x", "--part", "routes", "--threads", "--strategy", "thread_multipool"}).asked);

  for (const char* option : {"--regions", "--shift", "--curve", "--latency"})
    EXPECT_EQ(parse({"x", "--part", "routes", option}).complaint,
              "mallard-replay: " + std::string(option) + " is for whole journals: leave out --part\n");
  EXPECT_NE(
      parse({"x", "--part", "routes", "--litter", "1"}).complaint.find("--litter is for whole journals"),
      std::string::npos);
  EXPECT_NE(parse({"x", "--part", "routes", "--binding", "pmr"}).complaint.find("--binding is for whole"),
            std::string::npos);
  EXPECT_NE(
      parse({"x", "--part", "routes", "--threads", "--scale", "2"}).complaint.find("--scale is for whole"),
      std::string::npos);
  EXPECT_EQ(parse({"x", "--baseline", "glibc"}).complaint, "mallard-replay: --baseline requires --part\n");
  EXPECT_TRUE(parse({"x", "--part", "routes", "--baseline", "hoard"})
                  .complaint.starts_with("mallard-replay: unknown malloc hoard; known: glibc, "));
  EXPECT_TRUE(parse({"x", "--part", "routes", "--strategy", "lifo_multipool"})
                  .complaint.starts_with("mallard-replay: unknown strategy lifo_multipool; known: none, "));
  EXPECT_FALSE(parse({"x", "--part", "routes", "--threads", "--strategy", "reap"}).asked);
}

TEST(CommandLine, LinesAreTouchedOfPartsAlone) {
  EXPECT_EQ(parse({"x", "--part", "routes", "--touch", "lines"}).asked->options.touched, touch::lines);
  EXPECT_EQ(parse({"x", "--touch", "lines"}).complaint, "mallard-replay: --touch lines requires --part\n");
}

TEST(CommandLine, RoundsHaveAnEndAndMemoryCanBeAllThatIsAskedFor) {
  EXPECT_EQ(parse({"x"}).asked->options.most_rounds, 0u);
  EXPECT_EQ(parse({"x", "--rounds", "7", "--most-rounds", "7"}).asked->options.most_rounds, 7u);
  EXPECT_EQ(parse({"x", "--rounds", "7", "--most-rounds", "6"}).complaint,
            "mallard-replay: --most-rounds is less than --rounds\n");
  EXPECT_FALSE(parse({"x"}).asked->options.held_only);
  EXPECT_TRUE(parse({"x", "--held-only"}).asked->options.held_only);
  EXPECT_EQ(parse({"x", "--held-only", "--check-only"}).complaint,
            "mallard-replay: --held-only and --check-only exclude each other\n");
  EXPECT_TRUE(parse({"x", "--held-only", "--latency"})
                  .complaint.starts_with("mallard-replay: --held-only times and counts nothing"));
}

TEST(CommandLine, PicturesAreTheMallardCommands) {
  const auto p = parse({"x", "--plot", "pictures"});
  EXPECT_FALSE(p.asked);
  EXPECT_EQ(p.exit_code, 2);
  EXPECT_EQ(p.complaint,
            "mallard-replay: --plot is drawn by the mallard command: mallard replay FILE --plot DIR\n");
}

TEST(CommandLine, WhatIsWrongIsOneLineAndExitCodeTwo) {
  const auto complaint = [](std::vector<std::string> arguments) {
    return test::complaint(parse_command_line, "mallard-replay", std::move(arguments));
  };
  EXPECT_EQ(complaint({}), "mallard-replay: FILE is missing: name the journal to replay (see --help)\n");
  EXPECT_TRUE(complaint({"x", "--strategy", "hoard"})
                  .starts_with("mallard-replay: unknown strategy hoard; known: none, glibc, "));
  EXPECT_EQ(complaint({"x", "--memory-limit", "lots"}),
            "mallard-replay: --memory-limit lots is not a size; write 512M or 4G\n");
  EXPECT_NE(complaint({"x", "--rounds", "4"}).find("--rounds"), std::string::npos);
  for (const char* seconds : {"nan", "NaN", "-nan", "inf", "3601", "-1", "long"})
    EXPECT_NE(complaint({"x", "--warm-time", seconds}).find("--warm-time"), std::string::npos) << seconds;
  EXPECT_NE(complaint({"x", "--touch", "none"}).find("--touch"), std::string::npos);
  EXPECT_NE(complaint({"x", "--litter", "2"}).find("--litter"), std::string::npos);
  EXPECT_NE(complaint({"x", "y"}).find("y"), std::string::npos);
}

// As from a script whose variable is not set.
TEST(CommandLine, APartWithoutAFileIsNoWholeJournal) {
  EXPECT_EQ(parse({"x", "--part", ""}).complaint, "mallard-replay: --part names no FILE\n");
}

}  // namespace
}  // namespace mallard::replay
