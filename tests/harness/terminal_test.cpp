#include "harness/terminal.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace mallard::harness {
namespace {

TEST(Interrupt, IsNotedOnceAndTheNextOneEndsTheProcess) {
  watch_for_interrupt();
  EXPECT_FALSE(interrupted());
  std::raise(SIGINT);
  EXPECT_TRUE(interrupted());
  EXPECT_EXIT(std::raise(SIGINT), testing::KilledBySignal(SIGINT), "");
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
