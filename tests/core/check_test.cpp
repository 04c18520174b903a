// Checks on, whatever the build: this translation unit decides for itself.
#undef MALLARD_CHECKS
#define MALLARD_CHECKS 2
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

struct broken {
  [[nodiscard]] bool validate() const noexcept { return true; }  // that there is a violation
  void clear() noexcept { MALLARD_VALIDATE(); }
};

TEST(CheckDeathTest, TheHighestLevelValidates) {
  broken heap;
  EXPECT_DEATH(heap.clear(), "^mallard: check failed: !validate\\(\\) ");
}

}  // namespace
