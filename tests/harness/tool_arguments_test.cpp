#include "harness/tool_arguments.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/memory_meter.hpp"
#include "parsed_arguments.hpp"

namespace mallard::harness {
namespace {

// A tool that takes a number, and refuses 13.
std::optional<std::uint64_t> parse_one(int argc, char** argv, int& exit_code) {
  CLI::App app("Does nothing.", "a-tool");
  int number = 0;
  app.add_option("NUMBER", number);
  tool_arguments arguments(app, exit_code);
  if (!arguments.parse(argc, argv)) return std::nullopt;
  if (number == 13) return arguments.refuse("13 brings bad luck");
  return arguments.memory_limit();
}

std::string complaint(std::vector<std::string> arguments) {
  return test::complaint(parse_one, "a-tool", std::move(arguments));
}

TEST(ToolArguments, AMemoryLimitIsASizeAsPeopleWriteIt) {
  EXPECT_EQ(test::parsed(parse_one, "a-tool", {"1", "--memory-limit", "512M"}).asked, 512u << 20);
  EXPECT_EQ(complaint({"--memory-limit", "lots"}),
            "a-tool: --memory-limit lots is not a size; write 512M or 4G\n");
}

TEST(ToolArguments, WithoutALimitHalfOfWhatIsThereMayBeTaken) {
  const auto limit = test::parsed(parse_one, "a-tool", {}).asked;
  ASSERT_TRUE(limit);
  EXPECT_GT(*limit, 0u);
  EXPECT_LT(*limit, available_memory());
}

TEST(ToolArguments, HelpIsPrintedAndAllIsWell) {
  ::testing::internal::CaptureStdout();
  const auto helped = test::parsed(parse_one, "a-tool", {"--help"});
  EXPECT_NE(::testing::internal::GetCapturedStdout().find("--memory-limit BYTES"), std::string::npos);
  EXPECT_FALSE(helped.asked);
  EXPECT_EQ(helped.exit_code, 0);
  EXPECT_EQ(helped.complaint, "");
}

TEST(ToolArguments, WhatIsWrongIsOneLineAndExitCodeTwo) {
  EXPECT_TRUE(complaint({"--fast"}).ends_with(" (see --help)\n"));
  EXPECT_EQ(complaint({"13"}), "a-tool: 13 brings bad luck\n");
}

}  // namespace
}  // namespace mallard::harness
