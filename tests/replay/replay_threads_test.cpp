// mallard-replay --threads as its users run it: real worker processes, small journals.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

#include "replay/run_replay.hpp"

namespace {

using mallard::replay::testing::json;
using mallard::replay::testing::row_of;
using mallard::replay::testing::run_result;
using mallard::replay::testing::sanitized;
using mallard::replay::testing::shell;

// Three threads in a text form, which has no times of threads.
class ReplayThreads : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "a 48 10 1 0\na 300 20 2 5\nf 10 2 9\na 2000 30 3 12\nf 20 1 20\nf 30 3 22\n";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  const std::string path_ = testing::TempDir() + "replay_threads_" + std::to_string(::getpid()) + ".txt";
};

TEST_F(ReplayThreads, EachThreadIsReplayedAsOne) {
  const run_result r = shell("$REPLAY --threads --json --warm-time 0 " + path_);
  ASSERT_EQ(r.exit_code, 0) << r.out;
  const json whole = json::parse(r.out);
  EXPECT_EQ(whole["journal"]["replayed"], "threads");
  EXPECT_EQ(whole["journal"]["schedule"], (json{{"threads", 3},
                                                {"at_once", 2},
                                                {"window", 4096},
                                                {"remote_frees", 2},
                                                {"copies", 1},
                                                {"crossing_frees", 0},
                                                {"times_known", false}}));
  for (const json& row : whole["rows"]) {
    if (sanitized && row["binding"] == "malloc") continue;
    EXPECT_EQ(row["status"], "ok") << row.dump();
    for (const char* name : {"wall_ns_per_event", "cold_wall_ns_per_event", "waiting_ns_per_event",
                             "voluntary_switches", "involuntary_switches", "max_live_strayed"})
      EXPECT_TRUE(row["threads"][name].is_number()) << name << " of " << row["strategy"];
  }
  EXPECT_TRUE(row_of(whole["rows"], "multipool", "typed").is_null()) << "not for several threads";
  EXPECT_FALSE(row_of(whole["rows"], "synchronized_multipool", "typed").is_null());
}

TEST_F(ReplayThreads, TheTableSaysWhatWasReplayedAndAssumed) {
  const run_result r =
      shell("$REPLAY --threads --window 7 --strategy locked_multipool --warm-time 0 " + path_);
  ASSERT_EQ(r.exit_code, 0) << r.out;
  for (const char* part : {"3 threads with operations, 2 alive at once",
                           "66.7 % of the frees by another thread", "wall ns/event", "max live strayed",
                           "more than 7 events ahead", "the journal has no times of threads"})
    EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out;
}

// Of every strategy, but for a sanitizer, under which a few hundred processes take too long.
TEST_F(ReplayThreads, AScaleHasAPointForEachNumberOfCopies) {
  const std::string some = sanitized ? "--strategy locked_multipool --strategy none " : "";
  const run_result r =
      shell("$REPLAY --threads --scale 3 --crossing 100 --json --warm-time 0 " + some + path_);
  ASSERT_EQ(r.exit_code, 0) << r.out;
  const json whole = json::parse(r.out);
  EXPECT_EQ(whole["journal"]["schedule"]["copies"], 3);
  EXPECT_EQ(whole["journal"]["schedule"]["crossing_frees"], 3);
  for (const json& row : whole["rows"]) {
    if (sanitized && row["binding"] == "malloc") continue;
    ASSERT_EQ(row["scale"].size(), 3U) << row.dump();
    for (std::size_t n = 0; n < 3; ++n) {
      const json& point = row["scale"][n];
      EXPECT_EQ(point["copies"], n + 1);
      EXPECT_GT(point["events_per_second"], 0);
      EXPECT_EQ(point["rounds"].size(), 5U);
    }
  }
  const json& locked = row_of(whole["rows"], "locked_multipool", "typed");
  EXPECT_TRUE(locked["scale"][2]["contention"].is_number());
  EXPECT_TRUE(row_of(whole["rows"], "none", "typed")["scale"][2]["contention"].is_null());
  const run_result table =
      shell("$REPLAY --threads --scale 2 --strategy locked_multipool --warm-time 0 " + path_);
  EXPECT_NE(table.out.find("million events/s by copies"), std::string::npos) << table.out;
}

// Frees come first, and nothing else does.
TEST_F(ReplayThreads, AJournalWithoutAllocationsIsRefusedInOneLine) {
  std::ofstream(path_) << "f 10 1 9\nf 20 2 20\n";
  const run_result r = shell("$REPLAY --threads " + path_ + " 2>&1");
  EXPECT_EQ(r.exit_code, 2) << r.out;
  EXPECT_NE(r.out.find("holds no allocation"), std::string::npos) << r.out;
  EXPECT_EQ(std::ranges::count(r.out, '\n'), 1) << r.out;
}

TEST_F(ReplayThreads, WhatIsForOneThreadIsRefused) {
  for (const char* options :
       {"--threads --regions", "--threads --litter 1", "--threads --instructions", "--window 5", "--scale 2",
        "--threads --crossing 5", "--threads --shift", "--threads --curve", "--threads --latency",
        "--threads --window 0", "--threads --strategy multipool"}) {
    const run_result r = shell("$REPLAY " + std::string(options) + " " + path_ + " 2>&1");
    EXPECT_EQ(r.exit_code, 2) << options << r.out;
    EXPECT_EQ(std::ranges::count(r.out, '\n'), 1) << r.out;
  }
}

}  // namespace
