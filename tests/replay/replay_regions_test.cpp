// mallard-replay --regions as its users run it: real worker processes, small journals of regions.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

#include "journal/binary/writer.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run_replay.hpp"
#include "replay/trace/events.hpp"
#include "slow_tests.hpp"

namespace mallard::replay {
namespace {

using testing::json;
using testing::region_events;
using testing::row_of;
using testing::run_result;
using testing::sanitized;
using testing::shell;

class ReplayRegions : public ::testing::Test {
 protected:
  // A parser's: a region a function inside one a file, cleared or dropped with it, some blocks freed.
  void SetUp() override {
    region_events history;
    std::uint64_t block = 0x10000;
    for (std::uint64_t file = 1; file <= 20; ++file) {
      history.create(file);
      for (std::uint64_t function = 100; function < 120; ++function) {
        history.create(function, file);
        for (std::uint64_t i = 0; i < 20; ++i) history.allocate(function, block += 0x100, 8 + i * 7);
        history.free(function, block);
        if (function % 2 == 0) history.destroy(function);
      }
      if (file % 4 == 0) history.clear(file).allocate(file, 0x9000, 100);
      history.destroy(file);
    }
    save(history);
  }
  void TearDown() override { std::remove(path_.c_str()); }

  void save(const region_events& history) const {
    journal::writer out(path_);
    const std::uint32_t thread = out.add_thread({});
    for (journal::event e : history.rows()) {
      e.thread = thread;
      out.append(e);
    }
    out.finish();
  }

  json replay(const std::string& options) {
    const run_result r = shell("$REPLAY --regions --json --warm-time 0 " + options + " " + path_);
    EXPECT_EQ(r.exit_code, 0) << r.out;
    return json::parse(r.out);
  }

  const std::string path_ = ::testing::TempDir() + "replay_regions_" + std::to_string(::getpid()) + ".mlrd";
};

TEST_F(ReplayRegions, EveryStrategyIsMeasuredBesideTheBaseline) {
  const json whole = replay("");
  EXPECT_EQ(whole["journal"]["replayed"], "regions");
  EXPECT_EQ(whole["journal"]["regions"]["created"], 420);
  EXPECT_EQ(whole["journal"]["regions"]["cleared"], 5);
  EXPECT_EQ(whole["journal"]["regions"]["destroyed"], 220);
  EXPECT_EQ(whole["journal"]["regions"]["max_live"], 11);
  EXPECT_EQ(whole["journal"]["operations"], 420 + 8005 + 400 + 5 + 220);
  const json& rows = whole["rows"];
  EXPECT_EQ(rows[0]["strategy"], "none");
  std::set<std::string> names;
  for (const json& r : rows) {
    names.insert(r["strategy"]);
    if (sanitized && r["binding"] == "malloc") continue;
    EXPECT_EQ(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["ns_per_event"].is_number()) << r.dump();
    EXPECT_TRUE(r["cold_ns_per_event"].is_number()) << r.dump();
    EXPECT_TRUE(r["page_faults"].is_number()) << r.dump();
    EXPECT_TRUE(r["by_shift"].is_null()) << r.dump();
    EXPECT_GE(r["max_held"], 0) << r.dump();
  }
  for (const strategy& s : strategies(subject::regions)) EXPECT_TRUE(names.contains(s.name)) << s.name;
  EXPECT_GE(row_of(rows, "region", "typed")["max_held"], 20'000);
}

TEST_F(ReplayRegions, ShiftedHeapsAreMeasuredAtEachShift) {
  const json whole =
      replay(test::slow_tests ? "--shift --strategy region --strategy obstack" : "--shift --strategy region");
  EXPECT_EQ(whole["shifts"], (json{0, 64, 1024, 2048, 4032}));
  for (const json& r : whole["rows"]) {
    if (sanitized && r["binding"] == "malloc") continue;
    ASSERT_EQ(r["by_shift"].size(), 5u) << r.dump();
    for (const json& at : r["by_shift"])
      for (const char* figure : {"ns_per_event", "cold_ns_per_event", "page_faults"})
        EXPECT_TRUE(at[figure].is_number()) << r.dump();
    EXPECT_EQ(r["rounds_ns"].size(), r["cold_rounds_ns"].size());
  }
  if (test::slow_tests) {
    const run_result text = shell("$REPLAY --regions --shift --warm-time 0 --strategy region " + path_);
    EXPECT_NE(text.out.find("by shift"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("4032 B"), std::string::npos) << text.out;
  }
}

TEST_F(ReplayRegions, HaveCurvesToo) {
  const json whole = replay("--curve --strategy region --strategy apr");
  for (const json& r : whole["rows"]) {
    if (r["strategy"] == "none" || (sanitized && r["binding"] == "malloc")) continue;
    ASSERT_TRUE(r["curve"].is_object()) << r.dump();
    EXPECT_EQ(r["curve"]["event"].back(), whole["journal"]["operations"]);
    EXPECT_GE(r["fragmentation_measures"]["max_to_max"], 1) << r.dump();
  }
  const json& own = row_of(whole["rows"], "region", "typed");
  EXPECT_EQ(own["fragmentation_measures"]["max_to_max"], own["fragmentation"]);
}

TEST_F(ReplayRegions, AreServedByALitteredMalloc) {
  const json replayed =
      replay(test::slow_tests ? "--litter 3" : "--litter 3 --strategy region --strategy apr");
  for (const json& r : replayed["rows"]) {
    if (sanitized && r["binding"] == "malloc") continue;
    EXPECT_EQ(r["status"], "ok") << r.dump();
  }
}

TEST_F(ReplayRegions, StrategiesOfBlocksAreUnknownThere) {
  const run_result r = shell("$REPLAY --regions --strategy multipool " + path_ + " 2>&1");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_TRUE(r.out.starts_with("mallard-replay: unknown strategy multipool; known: none, ")) << r.out;
  EXPECT_NE(shell("$REPLAY --regions --list-strategies").out.find("talloc"), std::string::npos);
}

TEST_F(ReplayRegions, AlignmentThatAStrategyLacksIsSkipped) {
  save(region_events().create(1).allocate(1, 0x1000, 24, 64).destroy(1));
  const json whole = replay("--check-only");
  EXPECT_EQ(row_of(whole["rows"], "apr", "typed")["reason"],
            "serves alignments up to 8, the journal asks for 64");
  EXPECT_EQ(row_of(whole["rows"], "region", "typed")["status"], "ok");
}

TEST_F(ReplayRegions, WhatAJournalLacksIsTold) {
  const run_result blocks = shell("$REPLAY " + path_ + " 2>&1");
  EXPECT_EQ(blocks.exit_code, 2);
  EXPECT_EQ(blocks.out, "mallard-replay: " + path_ + " holds regions only: add --regions to replay them\n");

  save(region_events().add({.kind = journal::event_kind::malloc, .address = 16, .size = 8}));
  const run_result regions = shell("$REPLAY --regions " + path_ + " 2>&1");
  EXPECT_EQ(regions.exit_code, 2);
  EXPECT_EQ(regions.out, "mallard-replay: " + path_ + " holds no regions: nothing to replay by --regions\n");
}

}  // namespace
}  // namespace mallard::replay
