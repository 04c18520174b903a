#include "harness/tool_arguments.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "harness/bytes.hpp"
#include "harness/memory_meter.hpp"
#include "harness/terminal.hpp"
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

TEST(Bytes, NumbersWithAndWithoutUnitsAreUnderstood) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("512M"), 512u << 20);
  EXPECT_EQ(parse_bytes("4G"), std::uint64_t{4} << 30);
  EXPECT_EQ(parse_bytes("3kB"), 3u << 10);
  EXPECT_EQ(parse_bytes("1TiB"), std::uint64_t{1} << 40);
}

TEST(Bytes, AnythingElseIsRefused) {
  for (const char* text : {"", "M", "-1", "1.5G", "12Q", "1MM", "1 M", "0x10", "17179869184G"})
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
}

TEST(Bytes, AreWrittenWithThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(831), "831 B");
  EXPECT_EQ(format_bytes(1000), "0.98 KiB");
  EXPECT_EQ(format_bytes(10 * 1024), "10.0 KiB");
  EXPECT_EQ(format_bytes(4'550'000), "4.34 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{512} << 20), "512 MiB");
}

// In a process of its own: what is noted stays so, and ends what a test behind this one launches.
TEST(Interrupt, IsNotedOnceAndTheNextOneEndsTheProcess) {
  EXPECT_EXIT(
      {
        watch_for_interrupt();
        if (interrupted()) std::_Exit(1);
        std::raise(SIGINT);
        if (!interrupted()) std::_Exit(2);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(Progress, IsSilentWhereNobodyWatches) {
  testing::internal::CaptureStderr();
  {
    progress line;
    line.show("round 1 of 5");
    line.clear();
    line.show("round 2 of 5");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace mallard::harness
