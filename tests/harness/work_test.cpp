#include "harness/work.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <stdexcept>

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

}  // namespace
}  // namespace mallard::harness
