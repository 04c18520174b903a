// Children and exec'ed programs run unrecorded, in the environment the user gave.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "recorder/run.hpp"

namespace mallard::test {
namespace {

TEST(children, work_and_leave_no_events) {
  const scratch_folder folder;
  const run_result result =
      run(record_command(folder / "journal", {target("children")}, {"--buffer", "4096"}));
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string clean = "preload= spool=\n";
  EXPECT_EQ(result.out, clean + clean + clean);
  const recorded r = read_journal(folder / "journal");
  EXPECT_EQ(count_kinds(r, 7777)[event_kind::malloc], 20u);
  EXPECT_EQ(count_kinds(r, 8888)[event_kind::malloc], 0u);
  EXPECT_TRUE(r.complete);
}

TEST(children, the_program_sees_the_environment_the_user_gave) {
  const scratch_folder folder;
  const run_result plain = run({"env"});
  const run_result recorded_run = run(record_command(folder / "journal", {"env"}));
  EXPECT_EQ(recorded_run.out, plain.out);
}

TEST(children, a_program_that_becomes_another_is_told_once) {
  const scratch_folder folder;
  running recorder(record_command(folder / "journal", {"sh", "-c", "exec cat"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // looked for a hundred times a second
  const run_result result = recorder.finish();
  EXPECT_EQ(result.status, 0);
  const std::size_t told = result.err.find("cat by exec; what that does is not recorded\n");
  EXPECT_NE(told, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("by exec", told + 10), std::string::npos) << result.err;
  EXPECT_TRUE(read_journal(folder / "journal").complete);
}

}  // namespace
}  // namespace mallard::test
