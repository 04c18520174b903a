#include "harness/work.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "harness/foreign_malloc.hpp"
#include "harness/launcher.hpp"
#include "harness/terminal.hpp"

namespace mallard::harness {
namespace {

constexpr std::uint64_t plenty = UINT64_MAX;  // a limit once set can only be lowered

work_report report_of(work_state state, const char* reason = "") {
  work_report report;
  report.refuse(state, reason);
  return report;
}

TEST(Ending, IsTheReportsWhereTheWorkerEndedInOrder) {
  EXPECT_EQ(ending_of(report_of(work_state::done), {}).status, row_status::ok);
  EXPECT_EQ(ending_of(report_of(work_state::out_of_memory, "refused"), {}).status, row_status::out_of_memory);
  EXPECT_EQ(ending_of(report_of(work_state::out_of_memory, "refused"), {}).reason, "refused");
  EXPECT_EQ(ending_of(report_of(work_state::unavailable, "not loaded"), {}).status, row_status::skipped);
  EXPECT_EQ(ending_of(report_of(work_state::failed, "overlap"), {}).status, row_status::failed);
}

TEST(Ending, IsTheProcesssWhereItCrashed) {
  const ending crashed = ending_of(report_of(work_state::done), {0, SIGSEGV, ""});
  EXPECT_EQ(crashed.status, row_status::failed);
  EXPECT_NE(crashed.reason.find("Segmentation fault"), std::string::npos) << crashed.reason;
  EXPECT_EQ(ending_of({}, {3, 0, "assertion"}).status, row_status::failed);
  EXPECT_EQ(ending_of({}, {}).status, row_status::failed) << "it ended without having said that it was done";
}

TEST(Ending, IsOutOfMemoryWhereTheKernelKilledIt) {
  EXPECT_EQ(ending_of({}, {0, SIGKILL, ""}).status, row_status::out_of_memory);
}

TEST(DoWork, TellsWhatWasThrown) {
  work_report report;
  do_work(report, nullptr, plenty, [] { throw std::bad_alloc(); });
  EXPECT_EQ(report.state, work_state::out_of_memory);
  do_work(report, nullptr, plenty, [] { throw std::runtime_error("broken"); });
  EXPECT_EQ(report.state, work_state::failed);
  EXPECT_STREQ(report.reason.data(), "broken");
}

TEST(DoWork, LeavesWorkAloneThatLacksItsMalloc) {
  const foreign_malloc absent{"absent", "libabsent.so.1", "libabsent1", "", ""};
  work_report report;
  do_work(report, &absent, plenty, [] { FAIL() << "begun"; });
  EXPECT_EQ(report.state, work_state::unavailable);
  EXPECT_STREQ(report.reason.data(), "libabsent.so.1 is not loaded: apt install libabsent1");
}

TEST(DoWork, BeginsWithWhatIsNotLimited) {
  work_report report;
  bool begun = false;
  do_work(
      report, nullptr, plenty, [&] { return report.refuse(work_state::failed, "no litter"), false; },
      [&] { begun = true; });
  EXPECT_FALSE(begun);
  EXPECT_STREQ(report.reason.data(), "no litter");
}

TEST(WorkReport, CutsALongReason) {
  work_report report;
  report.refuse(work_state::failed, std::string(1000, 'x'));
  EXPECT_EQ(std::string(report.reason.data()).size(), report.reason.size() - 1);
}

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

TEST(ForeignMalloc, AllAreKnownByTheirNames) {
  for (const char* name : {"glibc", "glibc-notrim", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc",
                           "mallard", "mallard-checked"})
    EXPECT_NE(find_foreign_malloc(name), nullptr) << name;
  EXPECT_EQ(find_foreign_malloc("hoard"), nullptr);
}

TEST(ForeignMalloc, PreloadAndTunablesReachTheEnvironment) {
  EXPECT_TRUE(environment_for(*find_foreign_malloc("glibc")).empty());
  EXPECT_EQ(environment_for(*find_foreign_malloc("jemalloc")),
            std::vector<std::string>{"LD_PRELOAD=libjemalloc.so.2"});
  const auto notrim = environment_for(*find_foreign_malloc("glibc-notrim"));
  ASSERT_EQ(notrim.size(), 1u);
  EXPECT_TRUE(notrim[0].starts_with("GLIBC_TUNABLES=glibc.malloc.trim_threshold="));
}

TEST(ForeignMalloc, WhatOnlyWholeProgramsRunUnderIsNoStrategy) {
  for (const foreign_malloc& further : further_mallocs()) {
    EXPECT_EQ(find_foreign_malloc(further.name), nullptr) << further.name;
    EXPECT_NE(further.object.empty(), further.tunables.empty()) << further.name;
  }
  EXPECT_EQ(further_mallocs().front().name, "glibc-arenas");
}

TEST(ForeignMalloc, MallardsOwnIsFoundWhereItWasBuiltOrAsTheEnvironmentSays) {
  const auto built = environment_for(*find_foreign_malloc("mallard"));
  ASSERT_EQ(built.size(), 1u);
  EXPECT_TRUE(built[0].starts_with("LD_PRELOAD=") && built[0].ends_with("libmallard-malloc.so"));
  ::setenv("MALLARD_MALLOC_LIBRARY", "/elsewhere/libmallard-malloc.so", 1);
  EXPECT_EQ(environment_for(*find_foreign_malloc("mallard")),
            std::vector<std::string>{"LD_PRELOAD=/elsewhere/libmallard-malloc.so"});
  const auto checked = environment_for(*find_foreign_malloc("mallard-checked"));
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_TRUE(checked[0].starts_with("LD_PRELOAD=/") && checked[0].ends_with("libmallard-malloc-checked.so"));
  ::unsetenv("MALLARD_MALLOC_LIBRARY");
}

// This process has not preloaded any: measuring one here would measure another malloc.
TEST(ForeignMalloc, ASanitizersMallocIsKnown) {
  EXPECT_EQ(malloc_is_a_sanitizers(), malloc_in_force() != "libc.so.6");
}

TEST(ForeignMalloc, AMallocThatIsNotInForceIsAnErrorThatNamesItsPackage) {
  EXPECT_FALSE(malloc_in_force().empty());
  EXPECT_EQ(malloc_error(*find_foreign_malloc("mimalloc")),
            "libmimalloc.so.2.0 is not loaded: apt install libmimalloc2.0");
  EXPECT_EQ(malloc_error(*find_foreign_malloc("glibc")).empty(), malloc_in_force() == "libc.so.6");
}

}  // namespace
}  // namespace mallard::harness
