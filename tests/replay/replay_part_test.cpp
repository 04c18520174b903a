// mallard-replay --part as its users run it: real worker processes, small journals with a file of routes.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "replay/allocator/strategy.hpp"
#include "replay/run_replay.hpp"
#include "replay/trace/part_routes.hpp"

namespace mallard::replay {
namespace {

using testing::json;
using testing::row_of;
using testing::run_result;
using testing::sanitized;
using testing::shell;

constexpr double mebi = 1 << 20;

class ReplayPart : public ::testing::Test {
 protected:
  void TearDown() override {
    std::remove(journal_.c_str());
    std::remove(routes_.c_str());
  }

  void allocate(std::uint64_t size, std::uint64_t address, std::uint32_t heap, int thread = 1) {
    lines_ += "a " + std::to_string(size) + ' ' + std::to_string(address) + ' ' + std::to_string(thread) +
              ' ' + std::to_string(heaps_.size()) + '\n';
    heaps_.push_back(heap);
  }
  void free(std::uint64_t address, int thread = 1) {
    lines_ += "f " + std::to_string(address) + ' ' + std::to_string(thread) + ' ' +
              std::to_string(heaps_.size()) + '\n';
    heaps_.push_back(0);
  }

  void save() const {
    std::ofstream(journal_) << lines_;
    std::ofstream(routes_, std::ios::binary)
        .write(reinterpret_cast<const char*>(heaps_.data()),
               static_cast<std::streamsize>(heaps_.size() * sizeof heaps_[0]));
  }

  // Addresses in a text journal are hexadecimal; that these look decimal does not matter.
  json replay(const std::string& options = "") const {
    save();
    const run_result r =
        shell("$REPLAY --json --warm-time 0 --part " + routes_ + ' ' + options + ' ' + journal_);
    EXPECT_EQ(r.exit_code, 0) << r.out;
    return json::parse(r.out);
  }
  std::string complaint() const {
    save();
    const run_result r = shell("$REPLAY --part " + routes_ + ' ' + journal_ + " 2>&1");
    EXPECT_EQ(r.exit_code, 2) << r.out;
    EXPECT_EQ(std::ranges::count(r.out, '\n'), 1) << r.out;
    return r.out;
  }

  const std::string stem_ = ::testing::TempDir() + "replay_part_" + std::to_string(::getpid());
  const std::string journal_ = stem_ + ".txt";
  const std::string routes_ = stem_ + ".u32";
  std::string lines_;
  std::vector<std::uint32_t> heaps_;
};

TEST_F(ReplayPart, EveryStrategyIsMeasuredAgainstTheMallocAroundIt) {
  for (std::uint32_t i = 0; i < 40; ++i) allocate(16 + i, 100 + i, i % 3);
  for (std::uint64_t i = 0; i < 40; ++i) free(100 + i);
  const json whole = replay();
  EXPECT_EQ(whole["journal"]["replayed"], "blocks");
  EXPECT_EQ(whole["part"], (json{{"events", 52}, {"blocks", 26}, {"heaps", 2}, {"left_out", 0}}));
  std::vector<std::string> names;
  for (const json& r : whole["rows"]) {
    names.push_back(r["strategy"]);
    if (sanitized && r["binding"] == "malloc") continue;
    EXPECT_EQ(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["ns_per_event"].is_number()) << r.dump();
    const bool is_compared = !sanitized && r["strategy"] != "none";
    EXPECT_EQ(r["change_max_held"].is_number(), is_compared) << r.dump();
    if (!is_compared) continue;
    for (const char* figure : {"median", "low", "high"})
      EXPECT_TRUE(r["change_ns_per_block"][figure].is_number()) << r.dump();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"none", "glibc", "pool", "adaptive_pool", "multipool",
                                             "best_fit", "reap", "sized_reap", "monotonic", "region", "stack",
                                             "segment_heap", "glibc a/a"}));
  if (sanitized) return;
  const json& glibc = row_of(whole["rows"], "glibc", "malloc");
  EXPECT_EQ(glibc["change_ns_per_block"], (json{{"median", 0.0}, {"low", 0.0}, {"high", 0.0}}));
  EXPECT_EQ(glibc["change_max_held"], 0);
}

// 24 MiB go through the part, 4 KiB of it alive at a time; what is around it keeps 8 MiB.
TEST_F(ReplayPart, MemoryThatComesToItIsTheParts) {
  if (sanitized) GTEST_SKIP() << "no malloc to compare with";
  for (std::uint64_t i = 0; i < 8; ++i) allocate(1 << 20, 900000 + i, 0);
  for (std::uint64_t i = 0; i < 6000; ++i) {
    allocate(4096, 100, 1);
    free(100);
  }
  for (std::uint64_t i = 0; i < 8; ++i) free(900000 + i);
  const json rows = replay("--strategy monotonic --strategy region")["rows"];
  EXPECT_GE(row_of(rows, "glibc", "malloc")["max_held"], 8 * mebi);
  EXPECT_GE(row_of(rows, "monotonic", "typed")["change_max_held"], 20 * mebi) << "what it never reuses";
  const json& released = row_of(rows, "region", "typed");
  EXPECT_LE(released["change_max_held"], 2 * mebi) << "it is not charged for what is around it";
  EXPECT_GE(released["max_held"], 8 * mebi);
}

// A heap for each of many blocks that are alive together: a chunk each.
TEST_F(ReplayPart, ManyHeapsOfOneBlockBlowUp) {
  if (sanitized) GTEST_SKIP() << "no malloc to compare with";
  for (std::uint32_t i = 0; i < 3000; ++i) allocate(32, 1000 + i, 1 + i);
  for (std::uint32_t i = 0; i < 3000; ++i) free(1000 + i);
  const json whole = replay("--strategy pool");
  EXPECT_EQ(whole["part"]["heaps"], 3000);
  EXPECT_GE(row_of(whole["rows"], "pool", "typed")["change_max_held"], 10 * mebi);
}

TEST_F(ReplayPart, TheMallocAroundItCanBeAnother) {
  if (sanitized) GTEST_SKIP() << "no malloc to put in its place";
  allocate(48, 100, 1);
  allocate(48, 101, 0);
  const json rows = replay("--baseline glibc-notrim --strategy pool --strategy glibc")["rows"];
  std::vector<std::string> names;
  for (const json& r : rows) names.push_back(r["strategy"]);
  EXPECT_EQ(names, (std::vector<std::string>{"none", "glibc", "glibc-notrim", "pool", "glibc-notrim a/a"}));
  EXPECT_EQ(row_of(rows, "glibc-notrim", "malloc")["change_ns_per_block"]["median"], 0.0);
  for (const json& r : rows) EXPECT_EQ(r["status"], "ok") << r.dump();
}

TEST_F(ReplayPart, ChecksAndLimitsAreAsElsewhere) {
  allocate(48, 100, 1);
  allocate(64 << 20, 101, 1);
  const json rows = replay("--check-only --memory-limit 32M --strategy region")["rows"];
  EXPECT_EQ(row_of(rows, "region", "typed")["status"], "out_of_memory");
  EXPECT_TRUE(row_of(rows, "region", "typed")["change_ns_per_block"].is_null());
}

TEST_F(ReplayPart, MemoryAloneIsTheSameAsBesideTimes) {
  if (sanitized) GTEST_SKIP() << "no malloc to compare with";
  for (std::uint32_t i = 0; i < 3000; ++i) allocate(4000, 1000 + i, 1);
  for (std::uint32_t i = 0; i < 3000; ++i) free(1000 + i);
  const json rows = replay("--held-only --strategy monotonic")["rows"];
  for (const json& r : rows) {
    EXPECT_EQ(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["ns_per_event"].is_null()) << r.dump();
    EXPECT_TRUE(r["change_ns_per_block"].is_null()) << r.dump();
  }
  EXPECT_GE(row_of(rows, "monotonic", "typed")["max_held"], 11 * mebi);
  EXPECT_TRUE(row_of(rows, "monotonic", "typed")["change_max_held"].is_number());
}

// Blocks of 1 MiB that come and go, of which nothing is left but the last.
TEST_F(ReplayPart, StretchesOfAJournalAreReplayedWithoutTheRest) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    allocate(1 << 20, 100 + i, part_routes::out);
    free(100 + i);
    heaps_.back() = part_routes::out;
  }
  allocate(64, 100, 1);
  free(100);
  const json whole = replay("--strategy pool --rounds 5 --most-rounds 5");
  EXPECT_EQ(whole["part"], (json{{"events", 2}, {"blocks", 1}, {"heaps", 1}, {"left_out", 20}}));
  EXPECT_EQ(whole["journal"]["events"], 22);
  EXPECT_EQ(whole["journal"]["operations"], 2);
  EXPECT_EQ(whole["journal"]["max_live"], 64);
  const json& pool = row_of(whole["rows"], "pool", "typed");
  EXPECT_EQ(pool["status"], "ok") << pool.dump();
  EXPECT_EQ(pool["rounds_ns"].size(), 5u);
}

TEST_F(ReplayPart, AWrongFileIsRefusedInOneLine) {
  allocate(48, 100, 1);
  free(100);
  heaps_.push_back(0);
  EXPECT_EQ(complaint(),
            "mallard-replay: " + routes_ + " has 3 numbers, the journal 2 events: one is needed for each\n");
  heaps_ = {0, 0};
  EXPECT_EQ(complaint(), "mallard-replay: " + routes_ + " routes no block: nothing would differ\n");
  heaps_ = {1, 1};
  EXPECT_EQ(complaint(), "mallard-replay: " + routes_ + " routes event 1, which allocates nothing\n");
}

TEST_F(ReplayPart, ThreadsHaveStrategiesOfTheirOwn) {
  for (std::uint64_t i = 0; i < 30; ++i) allocate(40, 100 + i, i % 2, static_cast<int>(i % 3));
  for (std::uint64_t i = 0; i < 30; ++i) free(100 + i, static_cast<int>((i + 1) % 3));
  const json whole = replay("--threads");
  EXPECT_EQ(whole["journal"]["replayed"], "threads");
  EXPECT_EQ(whole["part"]["blocks"], 15);
  std::set<std::string> names;
  for (const json& r : whole["rows"]) {
    names.insert(r["strategy"]);
    if (sanitized && r["binding"] == "malloc") continue;
    EXPECT_EQ(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["threads"]["wall_ns_per_event"].is_number()) << r.dump();
  }
  for (const strategy& s : strategies(subject::threads, true))
    EXPECT_TRUE(s.bound == binding::malloc || names.contains(s.name)) << s.name;
}

}  // namespace
}  // namespace mallard::replay
