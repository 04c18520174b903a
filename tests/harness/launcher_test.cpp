#include "harness/launcher.hpp"

#include <gtest/gtest.h>

namespace mallard::harness {
namespace {

// Whether the kernel may give a worker huge pages at all.
outcome asked_of_a_worker(bool small_pages) {
  return launch({.program = "/bin/sh",
                 .arguments = {"-c", "grep -q '^THP_enabled:.*1' /proc/self/status"},
                 .environment = {},
                 .small_pages = small_pages});
}

TEST(Launcher, AWorkerGetsNoHugePagesOnRequestAndTheNextMay) {
  if (!asked_of_a_worker(false).clean()) GTEST_SKIP() << "nothing gets any here";
  EXPECT_FALSE(asked_of_a_worker(true).clean());
  EXPECT_TRUE(asked_of_a_worker(false).clean());
}

}  // namespace
}  // namespace mallard::harness
