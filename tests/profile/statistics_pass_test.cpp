#include "profile/statistics_pass.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "scratch_folder.hpp"

namespace mallard::profile {
namespace {

TEST(statistics_pass, counts_each_grouping_in_one_reading) {
  const test::temporary_file file("a 8 10 1 5\na 16 20 2 6\nf 10 2 7\n");
  statistics_pass pass(file.path(), {{.groups = {.of_context = {0}, .groups = 1}, .events = 3},
                                     {.groups = {.of_thread = {0, 1}, .groups = 2}, .events = 3}});
  EXPECT_FALSE(pass.complete());
  while (pass.advance()) {
  }
  EXPECT_TRUE(pass.complete());
  EXPECT_EQ(pass.progress(), 1);
  const group_figures& all = pass.result(0).figures()[0];
  EXPECT_EQ(all.allocations, 2U);
  EXPECT_EQ(all.never, 1U);
  EXPECT_EQ(all.one_by_one, 1U);
  ASSERT_EQ(pass.result(1).figures().size(), 2U);
  EXPECT_EQ(pass.result(1).figures()[0].bytes, 8U);
  EXPECT_EQ(pass.result(1).figures()[0].active_threads, 2U);
  EXPECT_EQ(pass.result(1).figures()[1].bytes, 16U);
  EXPECT_THROW((void)pass.result(2), std::out_of_range);
}

TEST(statistics_pass, a_complete_one_stays_as_it_is) {
  const test::temporary_file file("a 8 10 1 5\n");
  statistics_pass pass(file.path(),
                       {{.groups = {.of_context = {0}, .groups = 1}, .events = 1, .moments = 1}});
  while (pass.advance()) {
  }
  EXPECT_FALSE(pass.advance());
  EXPECT_EQ(pass.result(0).compactness_over_time().size(), 1U);
}

TEST(statistics_pass, what_a_recording_has_added_since_is_left_out) {
  const test::temporary_file file("a 8 10 1 5\na 16 20 2 6\nf 10 2 7\na 32 30 1 8\nf 20 1 9\n");
  statistics_pass pass(file.path(), {{.groups = {.of_context = {0}, .groups = 1}, .events = 3}});
  while (pass.advance()) {
  }
  EXPECT_EQ(pass.result(0).figures()[0].allocations, 2U);
  EXPECT_EQ(pass.result(0).figures()[0].never, 1U);
  EXPECT_EQ(pass.progress(), 1);
}

TEST(statistics_pass, a_journal_that_has_lost_events_is_an_error) {
  const test::temporary_file file("a 8 10 1 5\na 16 20 2 6\n");
  statistics_pass pass(file.path(), {{.groups = {.of_context = {0}, .groups = 1}, .events = 3}});
  const auto read_all = [&pass] {
    while (pass.advance()) {
    }
  };
  EXPECT_THROW(read_all(), journal::error);
  EXPECT_FALSE(pass.complete());
}

TEST(statistics_pass, a_missing_journal_is_an_error) {
  EXPECT_THROW(statistics_pass("/nonexistent/journal", {}), journal::error);
}

}  // namespace
}  // namespace mallard::profile
