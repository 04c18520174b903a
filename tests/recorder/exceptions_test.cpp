// Exceptions leave the recorder's frames as they leave the library's own, and cost no event.
#include <gtest/gtest.h>

#include "recorder/counted_runs.hpp"

namespace mallard::test {
namespace {

void expect_identity(const std::string& name, const std::vector<std::string>& options = {}) {
  const counted_runs runs({target("exceptions"), name});
  const run_result native = runs.natively();
  EXPECT_EQ(native.status, 0);
  const call_counts taken = runs.recorded_and_counted(options);
  EXPECT_EQ(taken.shown.status, native.status);
  EXPECT_EQ(taken.shown.out, native.out);
  EXPECT_EQ(taken.shown.err, native.err);
  EXPECT_EQ(taken.by_recorder, taken.by_counter);
  EXPECT_EQ(runs.recorded(options).by_recorder, runs.counted().by_counter);
}

TEST(exceptions, out_of_operator_new_do_not_stop_the_recording) { expect_identity("throws"); }

TEST(exceptions, out_of_operator_new_pass_without_stacks_too) {
  expect_identity("throws", {"--stack", "none"});
}

TEST(exceptions, new_handlers_are_called_as_ever) { expect_identity("new_handler"); }

TEST(exceptions, what_comes_after_them_is_recorded_to_the_last_call) {
  const scratch_folder folder;
  EXPECT_EQ(run(record_command(folder / "journal", {target("exceptions"), "throws"})).status, 0);
  auto counts = count_kinds(read_journal(folder / "journal"), 5151);
  EXPECT_EQ(counts[event_kind::new_], 1000u);
}

}  // namespace
}  // namespace mallard::test
