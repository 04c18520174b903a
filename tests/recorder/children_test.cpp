// Children and exec'ed programs run unrecorded, in the environment the user gave.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace mallard::test
