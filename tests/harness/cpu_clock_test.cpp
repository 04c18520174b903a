#include "harness/cpu_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace mallard::harness {
namespace {

// Waits until this thread has used some CPU time.
void work() {
  const std::uint64_t start = thread_cpu_ns();
  while (thread_cpu_ns() - start < 5'000'000) {
  }
}

TEST(CpuClock, AnotherThreadsWorkCountsForTheProcessOnly) {
  const std::uint64_t thread_before = thread_cpu_ns();
  const std::uint64_t process_before = process_cpu_ns();
  std::thread(work).join();
  EXPECT_GE(process_cpu_ns() - process_before, 5'000'000u);
  EXPECT_LT(thread_cpu_ns() - thread_before, 5'000'000u);
}

}  // namespace
}  // namespace mallard::harness
