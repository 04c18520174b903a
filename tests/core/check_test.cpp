// Checks on, whatever the build: this translation unit decides for itself.
#define MALLARD_CHECKS 1
#include "mallard/core/check.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Check, LetsWhatHoldsPass) {
  int evaluated = 0;
  MALLARD_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, PrintsOneLineWithThePlaceAndAborts) {
  EXPECT_DEATH(MALLARD_CHECK(1 + 1 == 3),
               "^mallard: check failed: 1 \\+ 1 == 3 \\(.*check_test\\.cpp:[0-9]+\\)\n$");
}

}  // namespace
