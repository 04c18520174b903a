// A process is running, has ended, waits to be reaped, or is another one with the same id.
#include "journal/drain/spool_copy.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace mallard::journal {
namespace {

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

TEST(is_running, tells_who_is_there) {
  const auto self = static_cast<std::uint64_t>(getpid());
  EXPECT_TRUE(is_running(self, now_ns()));
  EXPECT_TRUE(is_running(self, 0)) << "nobody knows when it began";
  EXPECT_FALSE(is_running(self, now_ns() - std::uint64_t{86'400} * 1'000'000'000u))
      << "an earlier one had the id";
  EXPECT_FALSE(is_running(0, now_ns()));
  EXPECT_FALSE(is_running(UINT64_MAX, now_ns()));
}

TEST(is_running, the_dead_do_not_run) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t end{};
  waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_running(static_cast<std::uint64_t>(child), now_ns())) << "nobody has asked for its end yet";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_running(static_cast<std::uint64_t>(child), now_ns()));
}

}  // namespace
}  // namespace mallard::journal
