#include "harness/operation_clock.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace mallard::harness {
namespace {

std::uint64_t read_count() noexcept {
  static std::uint64_t count = 0;
  return count += 5;
}

TEST(OperationClock, AMeterReadsWhatItIsGiven) {
  const operation_meter meter(read_count);
  const std::uint64_t before = meter.before();
  EXPECT_EQ(meter.after() - before, 5u);
}

// Either clock, over the same stretch of time: no more and no less than the kernel's clock around it.
void agrees_with_the_kernel(const operation_clock& clock) {
  const auto raw = [] { return detail::clock_ns(CLOCK_MONOTONIC_RAW); };
  const operation_meter meter = clock.meter();
  const std::uint64_t outer = raw();
  const std::uint64_t before = meter.before();
  const std::uint64_t inner = raw();
  while (raw() - inner < 20'000'000) {
  }
  const std::uint64_t least = raw() - inner;
  const double between = clock.ns(meter.after() - before);
  const std::uint64_t most = raw() - outer;
  EXPECT_GE(between, 0.99 * static_cast<double>(least));
  EXPECT_LE(between, 1.01 * static_cast<double>(most));
}

TEST(OperationClock, ATickIsAsLongAsTheKernelsClockSays) {
  agrees_with_the_kernel(measured_clock(false));
  if (!tsc_obstacle().empty()) GTEST_SKIP() << tsc_obstacle();
  agrees_with_the_kernel(measured_clock(true));
}

TEST(OperationClock, ItsOwnCostIsTakenOffAndNeverMore) {
  const operation_clock clock = measured_clock();
  EXPECT_EQ(clock.tsc, tsc_obstacle().empty());
  EXPECT_GT(clock.overhead, 0u);
  EXPECT_GE(clock.quantum, 1u);
  EXPECT_EQ(clock.net(clock.overhead), 0u);
  EXPECT_EQ(clock.net(0), 0u);
  EXPECT_EQ(clock.net(clock.overhead + 7), 7u);
}

TEST(OperationClock, AThreadStaysOnItsCpu) {
  std::thread([] {
    if (!stay_on_this_cpu()) GTEST_SKIP() << "the kernel does not allow it";
    cpu_set_t allowed;
    ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    EXPECT_EQ(CPU_COUNT(&allowed), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<unsigned>(::sched_getcpu()), &allowed));
  }).join();
}

}  // namespace
}  // namespace mallard::harness
