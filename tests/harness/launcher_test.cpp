#include "harness/launcher.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <system_error>

#include "harness/terminal.hpp"

namespace mallard::harness {
namespace {

outcome shell(const std::string& script, std::vector<std::string> environment = {}) {
  return launch({"/bin/sh", {"-c", script}, std::move(environment)});
}

TEST(Launcher, ExitCodesSignalsAndTheLastErrorLineComeBack) {
  EXPECT_TRUE(shell("exit 0").clean());

  const outcome failed = shell("echo first >&2; echo out of cheese >&2; exit 3");
  EXPECT_FALSE(failed.clean());
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(describe(failed), "exited with code 3: out of cheese");

  const outcome killed = shell("kill -SEGV $$");
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_EQ(describe(killed), "ended by signal 11 (Segmentation fault)");
}

TEST(Launcher, AWorkerSeesOnlyTheEnvironmentMeantForIt) {
  ::setenv("LD_PRELOAD", "", 1);
  ::setenv("MALLOC_ARENA_MAX", "1", 1);
  const outcome end =
      shell(R"(test -z "${LD_PRELOAD+x}${MALLOC_ARENA_MAX+x}" && test "$GIVEN" = yes && test -n "$PATH")",
            {"GIVEN=yes"});
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("MALLOC_ARENA_MAX");
  EXPECT_TRUE(end.clean());
}

TEST(Launcher, AProgramThatIsNotThereIsAnError) {
  EXPECT_THROW(static_cast<void>(launch({"/nonexistent/worker", {}, {}})), std::system_error);
}

// As one that comes between the last question and the wait.
TEST(Launcher, AnInterruptThatCameBeforeThereWasAWorkerEndsIt) {
  EXPECT_EXIT(
      {
        watch_for_interrupt();
        std::raise(SIGINT);
        std::_Exit(shell("exec sleep 600").signal == SIGKILL ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace mallard::harness
