#include "replay/run/callgrind.hpp"

#include <gtest/gtest.h>

namespace mallard::replay {
namespace {

TEST(Callgrind, TheCountIsReadFromItsLastLine) {
  EXPECT_EQ(instructions_in("==26985== I   refs:      12,010"), 12010);
  EXPECT_EQ(instructions_in("==26985== Collected : 7"), 7);
}

TEST(Callgrind, OtherLinesHoldNoCount) {
  EXPECT_EQ(instructions_in(""), std::nullopt);
  EXPECT_EQ(instructions_in("valgrind: fatal error: 17"), std::nullopt);
  EXPECT_EQ(instructions_in("==26985== I   refs:"), std::nullopt);
}

TEST(Callgrind, RunsTheSameWorkerInTheSameEnvironment) {
  const harness::launch_plan plan = under_callgrind({"/bin/worker", {"--job", "1"}, {"LD_PRELOAD=lib.so"}});
  ASSERT_GE(plan.arguments.size(), 3u);
  EXPECT_EQ(plan.program, valgrind_path());
  EXPECT_EQ(plan.arguments[plan.arguments.size() - 3], "/bin/worker");
  EXPECT_EQ(plan.arguments.back(), "1");
  EXPECT_EQ(plan.environment, std::vector<std::string>{"LD_PRELOAD=lib.so"});
}

}  // namespace
}  // namespace mallard::replay
