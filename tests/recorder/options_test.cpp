// The command line of mallard-record.
#include <gtest/gtest.h>
#include <unistd.h>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

TEST(options, help_and_version_are_no_recording) {
  const run_result help = run({recorder(), "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("Usage: mallard-record [OPTIONS] [--] PROGRAM [ARGUMENTS...]"), std::string::npos);
  EXPECT_EQ(run({recorder(), "-h"}).out, help.out);
  const run_result version = run({recorder(), "--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("mallard-record ", 0), 0u);
}

TEST(options, mistakes_get_one_line_and_exit_code_2) {
  const std::vector<std::vector<std::string>> mistakes = {
      {},
      {"--"},
      {"--no-such-option", "true"},
      {"--buffer", "1", "true"},
      {"--buffer", "lots", "true"},
      {"--stack", "x", "true"},
      {"--depth", "0", "true"},
      {"--depth", "2049", "true"},
      {"--depth", "x", "true"},
      {"--witness", "--stack", "none", "true"},
      {"-o"},
      {"-o", "-", "true"},
  };
  for (const auto& mistake : mistakes) {
    std::vector<std::string> command = {recorder()};
    command.insert(command.end(), mistake.begin(), mistake.end());
    const run_result result = run(command);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.err.rfind("mallard-record: ", 0), 0u) << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  }
}

TEST(options, mistaken_values_are_told_with_what_they_must_be) {
  EXPECT_EQ(run({recorder(), "--stack", "all", "true"}).err,
            "mallard-record: --stack: must be full, caller or none, not all\n");
  EXPECT_EQ(run({recorder(), "--buffer", "lots", "true"}).err,
            "mallard-record: --buffer: must be a size in bytes, such as 64k or 1m, not lots\n");
}

TEST(options, a_depth_from_1_to_2048_is_taken_as_the_help_says) {
  EXPECT_NE(run({recorder(), "--help"}).out.find("1 to 2048"), std::string::npos);
  const scratch_folder folder;
  for (const char* depth : {"1", "2048"})
    EXPECT_EQ(run(record_command(folder / "journal", {"true"}, {"--depth", depth})).status, 0) << depth;
}

TEST(options, the_programs_own_options_are_left_to_it) {
  const scratch_folder folder;
  const run_result result = run(
      {recorder(), "-o", folder / "journal", "sh", "-c", "echo \"$@\"", "sh", "-o", "--help", "--", "-x"});
  EXPECT_EQ(result.out, "-o --help -- -x\n");
}

TEST(options, without_a_name_the_journal_is_named_after_the_process) {
  const scratch_folder folder;
  const run_result result =
      run({"sh", "-c", "cd \"$1\" && exec \"$2\" sh -c 'echo $$'", "sh", folder / "", recorder()});
  const std::string process = result.out.substr(0, result.out.find('\n'));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"mallard." + process + ".mlrd"});
}

}  // namespace
}  // namespace mallard::test
