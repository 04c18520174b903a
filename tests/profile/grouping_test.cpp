#include "profile/grouping.hpp"

#include <gtest/gtest.h>

namespace mallard::profile {
namespace {

object of(std::uint32_t context, std::uint32_t thread) { return {.context = context, .thread = thread}; }

TEST(grouping, by_context_leaves_the_thread_aside) {
  const grouping groups{.of_context = {2, 0, 1}, .groups = 3};
  EXPECT_EQ(groups.of(of(0, 1)), 2U);
  EXPECT_EQ(groups.of(of(1, 1)), 0U);
  EXPECT_EQ(groups.of(of(2, 0)), 1U);
}

TEST(grouping, by_thread_leaves_the_context_aside) {
  const grouping groups{.of_thread = {1, 0}, .groups = 2};
  EXPECT_EQ(groups.of(of(1, 0)), 1U);
  EXPECT_EQ(groups.of(of(0, 1)), 0U);
}

TEST(grouping, what_has_no_entry_is_of_group_0) {
  const grouping by_context{.of_context = {1, 1}, .groups = 2};
  const grouping by_thread{.of_thread = {1}, .groups = 2};
  EXPECT_EQ(by_context.of(of(2, 0)), 0U);
  EXPECT_EQ(by_thread.of(of(0, 1)), 0U);
}

}  // namespace
}  // namespace mallard::profile
