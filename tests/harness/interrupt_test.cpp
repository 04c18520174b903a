#include "harness/interrupt.hpp"

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

}  // namespace
}  // namespace mallard::harness
