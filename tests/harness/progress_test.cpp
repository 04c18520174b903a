#include "harness/progress.hpp"

#include <gtest/gtest.h>

namespace mallard::harness {
namespace {

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
