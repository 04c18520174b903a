#include <gtest/gtest.h>

#include "replay/output/rows.hpp"

namespace mallard::replay {
namespace {

using testing::failed;
using testing::measured;
using testing::report_of;

std::vector<std::string> verdict(const std::vector<row>& rows) { return verdict_of(report_of(rows)); }

TEST(Verdict, TheBestMallocIsTheBaseAndTheGainIsARatio) {
  const std::vector<row> rows{measured("none", 1, 0), measured("glibc", 10, 1000),
                              measured("mimalloc", 5, 1100), measured("multipool", 2, 1320),
                              measured("glibc", 10.2, 1000, true)};
  EXPECT_EQ(
      verdict(rows),
      (std::vector<std::string>{
          "A/A: glibc measured a second time takes 1.02 of its own time; differences of that size mean "
          "nothing.",
          "Best malloc: mimalloc takes 0.50 of the time of glibc and holds 1.10 of its memory.",
          "Fastest strategy: multipool (typed) takes 0.40 of the time of mimalloc and holds 1.20 of its "
          "memory."}));
}

TEST(Verdict, WhatSafetyAmongThreadsCostsOneIsSaid) {
  const std::vector<row> rows{measured("glibc", 10, 1000),
                              measured("multipool", 2, 1000),
                              measured("std.pool", 20, 1000),
                              measured("std.sync_pool", 30, 1000),
                              measured("synchronized_multipool", 3, 1000),
                              measured("locked_multipool", 5, 1000),
                              measured("threads/multipool", 2.5, 1000),
                              failed("locked_best_fit", row_status::failed, "two live blocks overlap")};
  EXPECT_EQ(
      verdict(rows).front(),
      "On one thread, strategies for many take these parts of the time: synchronized_multipool 1.50, "
      "locked_multipool 2.50, threads/multipool 1.25 of multipool (typed); std.sync_pool 1.50 of std.pool "
      "(pmr).");
}

TEST(Verdict, NothingToGainIsSaidPlainly) {
  const std::vector<row> rows{measured("glibc", 10, 1000), measured("multipool", 9.9, 1000)};
  EXPECT_EQ(verdict(rows).back(), "Nothing to gain beyond the spread from any strategy other than glibc.");
}

TEST(Verdict, AGainPaidWithMemoryIsNotTheLastWord) {
  const std::vector<row> greedy{measured("glibc", 10, 1000), measured("monotonic", 1, 90'000),
                                measured("boost.pool", 5, 1000)};
  EXPECT_EQ(
      verdict(greedy).back(),
      "Fastest within 150 % of that malloc's memory: boost.pool (pmr) takes 0.50 of the time of glibc and "
      "holds 1.00 of its memory.");
  const std::vector<row> only_greedy{measured("glibc", 10, 1000), measured("monotonic", 1, 90'000),
                                     measured("std.pool", 20, 1000)};
  EXPECT_EQ(verdict(only_greedy).back(),
            "Within 150 % of that malloc's memory there is nothing to gain beyond the spread.");
}

// What malloc needs beside the litter may be a page: no part of it says anything.
TEST(Verdict, OnALitteredHeapMemoryIsSaidInBytes) {
  const std::vector<row> rows{measured("glibc", 10, 4096), measured("monotonic", 1, 90'112)};
  session_options options;
  options.litter = 3;
  EXPECT_EQ(
      verdict_of(report_of(rows, options)).back(),
      "Fastest strategy: monotonic (typed) takes 0.10 of the time of glibc and needs 88.0 KiB beside the "
      "litter, the other 4.00 KiB.");
}

TEST(Verdict, RowsThatWereNotMeasuredDoNotCompete) {
  const std::vector<row> rows{measured("none", 0.1, 0), measured("glibc", 10, 1000),
                              failed("multipool", row_status::failed, "two live blocks overlap")};
  EXPECT_EQ(verdict(rows), std::vector<std::string>{"Best malloc: glibc."});
}

TEST(Verdict, NothingIsSaidOfAGlibcThatWasNotMeasured) {
  const std::vector<row> rows{failed("glibc", row_status::out_of_memory, "an allocation was refused"),
                              measured("mimalloc", 5, 1100)};
  EXPECT_EQ(verdict(rows), std::vector<std::string>{"Best malloc: mimalloc; glibc was not measured."});
}

TEST(Verdict, ATimeBelowTheBaselinesNoiseIsNoNegativeRatio) {
  const std::vector<row> rows{measured("glibc", 10, 1000), measured("monotonic", -0.1, 1000)};
  EXPECT_EQ(verdict(rows).back(),
            "Fastest strategy: monotonic (typed) takes less than 0.01 of the time of glibc and holds 1.00 of "
            "its memory.");
}

TEST(Verdict, WithoutAMallocThereIsNone) {
  EXPECT_EQ(verdict({measured("multipool", 1, 1)}),
            std::vector<std::string>{"No verdict: no malloc was measured to compare with."});
}

}  // namespace
}  // namespace mallard::replay
