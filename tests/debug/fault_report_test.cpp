#include "mallard/debug/fault_report.hpp"

#include <gtest/gtest.h>

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>

#include "mallard/debug/guard_pages.hpp"

namespace mallard {
namespace {

TEST(FaultReport, KnowsTheHeapsThatWatchAddresses) {
  const auto heaps = [] {
    int found = 0;
    for (const watches_addresses* h = watches_addresses::first(); h != nullptr; h = h->next()) ++found;
    return found;
  };
  std::optional<guard_pages> a, b, c;
  a.emplace();
  b.emplace();
  c.emplace();
  EXPECT_EQ(heaps(), 3);
  b.reset();
  EXPECT_EQ(heaps(), 2);
  c.reset();
  a.reset();
  EXPECT_EQ(heaps(), 0);
}

class FaultReportDeathTest : public testing::Test {
 protected:
  FaultReportDeathTest() {
    heap_.table().set_name("orders");
    block_ = static_cast<volatile char*>(heap_.allocate(48, 16).data);
  }

  guard_pages other_;
  guard_pages heap_;
  guard_pages another_;
  volatile char* block_;
};

TEST_F(FaultReportDeathTest, NamesTheBlockAndThePlacesBeforeTheProcessEnds) {
  const auto written_behind = [&] {
    report_faults();
    block_[50] = 1;
  };
  EXPECT_DEATH(written_behind(),
               "mallard: orders: access behind a block: 48 bytes aligned to 16 at .*, block number 1\n"
               ".* is 2 bytes behind its end\n    now:\n      #0 .*\n    allocated:\n      #0 ");
  const auto read_in_front = [&] {
    report_faults();
    return block_[-4096];
  };
  EXPECT_DEATH((void)read_in_front(), "access in front of a block: 48 bytes");
}

TEST_F(FaultReportDeathTest, NamesTheFreeBefore) {
  heap_.deallocate(const_cast<char*>(block_), 48, 16);
  const auto read = [&] {
    report_faults();
    return block_[3];
  };
  EXPECT_DEATH((void)read(),
               "access after free: .*\n.* is at its byte 3\n(.*\n)*    freed before:\n      #0 ");
}

TEST_F(FaultReportDeathTest, LetsTheFormerActionFollow) {
  const auto fault = [&] {
    std::signal(SIGSEGV, [](int) { std::_Exit(42); });
    report_faults();
    report_faults();
    block_[48] = 1;
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(42), "access behind a block");
}

TEST_F(FaultReportDeathTest, SaysNothingOfOtherFaults) {
  const auto fault = [] {
    std::signal(SIGSEGV, [](int) { std::_Exit(42); });
    report_faults();
    *reinterpret_cast<volatile char*>(8) = 1;
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(42), "^$");
}

TEST_F(FaultReportDeathTest, LetsASentSignalEndTheProcess) {
  const auto sent = [] {
    std::signal(SIGSEGV, SIG_DFL);
    report_faults();
    ::kill(::getpid(), SIGSEGV);
    std::raise(SIGSEGV);
    std::_Exit(0);
  };
  EXPECT_EXIT(sent(), testing::KilledBySignal(SIGSEGV), "^$");
  const auto raised = [] {
    std::signal(SIGBUS, SIG_DFL);
    report_faults();
    std::raise(SIGBUS);
    std::_Exit(0);
  };
  EXPECT_EXIT(raised(), testing::KilledBySignal(SIGBUS), "^$");
}

TEST_F(FaultReportDeathTest, LetsASentSignalBeIgnoredAsBefore) {
  const auto sent = [] {
    std::signal(SIGSEGV, SIG_IGN);
    report_faults();
    std::raise(SIGSEGV);
    std::_Exit(7);
  };
  EXPECT_EXIT(sent(), testing::ExitedWithCode(7), "^$");
}

sigjmp_buf behind_the_fault;

TEST_F(FaultReportDeathTest, StaysAfterAFaultThatTheFormerHandlerTookCareOf) {
  const auto faults = [&] {
    struct sigaction jumps = {};
    jumps.sa_sigaction = [](int, siginfo_t* info, void*) {
      if (info->si_addr != reinterpret_cast<void*>(8)) std::_Exit(42);
      siglongjmp(behind_the_fault, 1);
    };
    jumps.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &jumps, nullptr);
    report_faults();
    if (sigsetjmp(behind_the_fault, 1) == 0) *reinterpret_cast<volatile char*>(8) = 1;
    block_[48] = 1;
  };
  EXPECT_EXIT(faults(), testing::ExitedWithCode(42), "^mallard: orders: access behind a block");
}

TEST_F(FaultReportDeathTest, CallsAHandlerForOneSignalOnce) {
  const auto fault = [&] {
    struct sigaction once = {};
    once.sa_handler = [](int) {};
    once.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGSEGV, &once, nullptr);
    report_faults();
    *reinterpret_cast<volatile char*>(8) = 1;
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGSEGV), "^$");
}

}  // namespace
}  // namespace mallard
