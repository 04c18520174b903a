#include "harness/pinning.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace mallard::harness {
namespace {

TEST(Pinning, AThreadStaysWhereItIs) {
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
