#include "replay/command_line.hpp"

#include <gtest/gtest.h>

namespace mallard::replay {
namespace {

struct parsed {
  std::optional<command> asked;
  int exit_code = 0;
  std::string complaint;
};

parsed parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "mallard-replay");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  parsed result;
  ::testing::internal::CaptureStderr();
  result.asked = parse_command_line(static_cast<int>(argv.size()), argv.data(), result.exit_code);
  result.complaint = ::testing::internal::GetCapturedStderr();
  return result;
}

TEST(CommandLine, DefaultsMeasureEverythingInFiveRounds) {
  const parsed p = parse({"run.mallard"});
  ASSERT_TRUE(p.asked);
  EXPECT_EQ(p.asked->file, "run.mallard");
  EXPECT_TRUE(p.asked->options.names.empty());
  EXPECT_EQ(p.asked->options.rounds, 5u);
  EXPECT_EQ(p.asked->options.touched, touch::first);
  EXPECT_GT(p.asked->options.memory_limit, 0u);
  EXPECT_EQ(p.asked->options.litter, 0u);
  EXPECT_FALSE(p.asked->json);
}

TEST(CommandLine, EveryOptionIsUnderstood) {
  const parsed p = parse(
      {"--strategy", "jemalloc", "--strategy",  "multipool", "run.mallard",    "--binding", "pmr",
       "--rounds",   "9",        "--warm-time", "0.5",       "--memory-limit", "512M",      "--touch",
       "all",        "--litter", "10",          "--json",    "--check-only",   "-o",        "run.json"});
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
  EXPECT_EQ(p.asked->output, "run.json");
}

TEST(CommandLine, WhatIsWrongIsOneLineAndExitCodeTwo) {
  const auto complaint = [](std::vector<std::string> arguments) {
    const parsed p = parse(std::move(arguments));
    EXPECT_FALSE(p.asked);
    EXPECT_EQ(p.exit_code, 2);
    EXPECT_EQ(std::count(p.complaint.begin(), p.complaint.end(), '\n'), 1) << p.complaint;
    return p.complaint;
  };
  EXPECT_EQ(complaint({}), "mallard-replay: which journal? Give a FILE (see --help)\n");
  EXPECT_TRUE(complaint({"x", "--strategy", "hoard"})
                  .starts_with("mallard-replay: unknown strategy hoard; known: none, glibc, "));
  EXPECT_EQ(complaint({"x", "--memory-limit", "lots"}),
            "mallard-replay: --memory-limit lots is not a size; write 512M or 4G\n");
  EXPECT_NE(complaint({"x", "--rounds", "4"}).find("--rounds"), std::string::npos);
  EXPECT_NE(complaint({"x", "--touch", "none"}).find("--touch"), std::string::npos);
  EXPECT_NE(complaint({"x", "--litter", "2"}).find("--litter"), std::string::npos);
  EXPECT_NE(complaint({"x", "y"}).find("y"), std::string::npos);
}

}  // namespace
}  // namespace mallard::replay
