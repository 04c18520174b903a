// The program as its users run it: real worker processes, small journals.

#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "journal/binary/writer.hpp"
#include "replay/run_replay.hpp"
#include "slow_tests.hpp"

namespace {

using mallard::replay::testing::json;
using mallard::replay::testing::row_of;
using mallard::replay::testing::run_result;
using mallard::replay::testing::sanitized;
using mallard::replay::testing::shell;
using mallard::test::slow_tests;

class MallardReplay : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "a 48 10 1 0\na 300 20 1 5\nf 10 1 9\na 2000 30 1 12\nf 20 1 20\n";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  json rows(const std::string& options) {
    const run_result r = shell("$REPLAY --json --warm-time 0 " + options + " " + path_);
    EXPECT_EQ(r.exit_code, 0) << r.out;
    return json::parse(r.out)["rows"];
  }

  // The journal of a fixture; where there is no time for all of it, its first events.
  [[nodiscard]] std::string fixture(const std::string& name, int events) const {
    const std::string whole = MALLARD_FIXTURES "/" + name + ".txt.xz";
    if (slow_tests && !sanitized) return whole;
    shell("xz -dc " + whole + " | head -n " + std::to_string(events) + " > " + path_);
    return path_;
  }

  const std::string path_ = testing::TempDir() + "mallard_replay_" + std::to_string(::getpid()) + ".txt";
};

TEST_F(MallardReplay, JsonGoesToAFileBesideTheTable) {
  const std::string saved = path_ + ".json";
  const std::string options = "--warm-time 0 --strategy multipool " + path_;
  const run_result r = shell("$REPLAY -o " + saved + " " + options);
  EXPECT_EQ(r.exit_code, 0) << r.out;
  EXPECT_NE(r.out.find("ns/event"), std::string::npos) << r.out;
  std::ifstream file(saved);
  EXPECT_EQ(json::parse(file)["rows"][0]["strategy"], "none");
  std::remove(saved.c_str());

  const run_result refused = shell("$REPLAY -o /nowhere/x.json " + options + " 2>&1");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.out.find("ns/event"), std::string::npos) << refused.out;
  EXPECT_NE(refused.out.find("mallard-replay: cannot write /nowhere/x.json: "), std::string::npos)
      << refused.out;
}

TEST_F(MallardReplay, EveryStrategyIsMeasuredBesideTheBaselineAndAnAARow) {
  const json all = rows("");
  EXPECT_EQ(all[0]["strategy"], "none");
  EXPECT_EQ(all.back()["strategy"], "glibc a/a");
  for (const json& r : all) {
    if (sanitized && r["binding"] == "malloc") continue;
    EXPECT_EQ(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["ns_per_event"].is_number()) << r.dump();
    EXPECT_TRUE(r["cold_ns_per_event"].is_number()) << r.dump();
    EXPECT_TRUE(r["max_held"].is_number()) << r.dump();
    EXPECT_TRUE(r["held_after"].is_number()) << r.dump();
    EXPECT_EQ(r["max_live"], 2300);
    EXPECT_TRUE(r["instructions_per_event"].is_null());
  }
  const json& pool = row_of(all, "multipool", "typed");
  EXPECT_GE(pool["max_held"], 2300);
  for (const char* name : {"internal", "header", "external"}) EXPECT_TRUE(pool[name].is_number()) << name;
}

#if MALLARD_SANITIZED
TEST_F(MallardReplay, AnOverruledMallocIsSkipped) {
  EXPECT_EQ(row_of(rows("--strategy tcmalloc"), "glibc", "malloc")["status"], "skipped");
}
#else
TEST_F(MallardReplay, AMissingMallocIsSkippedWithItsPackage) {
  // Another library under the malloc's name: it loads, and brings no malloc.
  const std::string folder = testing::TempDir() + "no_tcmalloc_" + std::to_string(::getpid());
  const run_result r =
      shell("mkdir -p " + folder + "; ln -sf \"$(c++ -print-file-name=libm.so.6)\" " + folder +
            "/libtcmalloc_minimal.so.4; LD_LIBRARY_PATH=" + folder +
            " $REPLAY --json --warm-time 0 --strategy tcmalloc " + path_ + "; rm -r " + folder);
  const json selected = json::parse(r.out)["rows"];
  ASSERT_EQ(selected.size(), 4u);  // none, glibc, tcmalloc, A/A
  EXPECT_EQ(row_of(selected, "tcmalloc", "malloc")["status"], "skipped");
  EXPECT_EQ(row_of(selected, "tcmalloc", "malloc")["reason"],
            "libtcmalloc_minimal.so.4 is not loaded: apt install libtcmalloc-minimal4");
  EXPECT_EQ(row_of(selected, "glibc", "malloc")["status"], "ok");
}
#endif

TEST_F(MallardReplay, WithoutABaselineNothingIsMeasured) {
  std::ofstream(path_) << "a 48 10 1 0\na 70368744177664 30 1 5\n";
  const json selected = rows("--strategy multipool --memory-limit 64M");
  EXPECT_EQ(selected[0]["status"], "out_of_memory");
  for (const json& r : selected) {
    EXPECT_NE(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["ns_per_event"].is_null()) << r.dump();
  }
}

// A block of a megabyte goes back to the source at its end, and is the process's still: cached.
TEST_F(MallardReplay, WhatTheChunkCacheKeepsIsHeld) {
  std::ofstream(path_) << "a 48 1 1 0\na 1000000 2 1 0\nf 2 1 0\n";
  const run_result r = shell("$REPLAY --json --warm-time 0 --strategy multipool " + path_);
  const json whole = json::parse(r.out);
  EXPECT_NE(whole["method"].value("chunk_cache", "").find("500 ms"), std::string::npos) << whole["method"];
  const json& pool = row_of(whole["rows"], "multipool", "typed");
  EXPECT_GE(pool["held_after"], 1'000'000) << pool.dump();
  EXPECT_LE(pool["held_after"], pool["max_held"]);
}

// Blocks above the pools' largest class stay with the monotonic until it is cleared.
TEST_F(MallardReplay, AStackOfHeapsHoldsWhatItsSourceHasGiven) {
  std::ofstream file(path_);
  for (int i = 1; i <= 20; ++i) file << "a 1100000 " << i << " 1 0\nf " << i << " 1 0\n";
  file << "a 1100001 7 1 0\n";
  file.close();
  const json all = rows("--strategy multipool/monotonic");
  const json& stack = row_of(all, "multipool/monotonic", "typed");
  EXPECT_GT(stack["external"], 18 * 1'100'000) << stack.dump();
  EXPECT_LE(stack["external"], stack["max_held"]);
}

// All of them in the builds that have time; else one of each kind of ours, and a malloc.
std::string some_strategies() {
  return slow_tests && !sanitized ? "" : "--strategy multipool --strategy reap --strategy jemalloc ";
}

// Each of four sizes a thousand times, all alive at once.
void write_many(const std::string& path) {
  std::ofstream file(path);
  for (int i = 1; i <= 4000; ++i) file << "a " << 40 * (i % 4 + 1) << " " << i << " 1 0\n";
}

TEST_F(MallardReplay, EveryStrategyIsServedOnALitteredHeap) {
  write_many(path_);
  const run_result r = shell("$REPLAY --json --warm-time 0 --litter 3 " + some_strategies() + path_);
  const json whole = json::parse(r.out);
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(whole["litter"], 3);
  EXPECT_TRUE(whole["method"].value("litter", "").starts_with("3 x the blocks alive")) << whole["method"];
  for (const json& row : whole["rows"]) {
    if (sanitized && row["binding"] == "malloc") continue;
    EXPECT_EQ(row["status"], "ok") << row.dump();
    EXPECT_TRUE(row["ns_per_event"].is_number()) << row.dump();
  }
}

TEST_F(MallardReplay, WhatIsHeldIsNetOfLitter) {
  write_many(path_);
  const std::string options = " --strategy multipool --strategy monotonic --strategy std.pool";
  const json fresh = rows("--litter 0" + options);
  const json littered = rows("--litter 10" + options);
  for (const char* name : {"multipool", "std.pool"}) {
    const json& before = row_of(fresh, name, "pmr");
    const json& after = row_of(littered, name, "pmr");
    EXPECT_GT(before["max_held"], 400'000) << name;
    EXPECT_LT(after["max_held"], 150'000) << name << ": there are holes, and a chunk at most is new";
    EXPECT_LT(after["held_after"], 150'000) << name;
    EXPECT_TRUE(after["external"].is_null()) << name;
  }
  const json& region = row_of(littered, "monotonic", "typed");
  EXPECT_EQ(region["max_held"], row_of(fresh, "monotonic", "typed")["max_held"]);
  EXPECT_EQ(region["external"], row_of(fresh, "monotonic", "typed")["external"]);
}

#if !MALLARD_SANITIZED  // what a sanitizer itself needs would be refused as well
TEST_F(MallardReplay, LitterThatFindsNoMemoryIsARow) {
  std::ofstream file(path_);
  for (int i = 1; i <= 64; ++i) file << "a 100000 " << i << " 1 0\n";
  file.close();
  const std::string options = "--memory-limit 32M --strategy multipool --strategy std.monotonic --litter ";
  const json some = rows(options + "1");
  const json much = rows(options + "10");
  for (const auto& [name, bound] : {std::pair{"multipool", "typed"},
                                    {"multipool", "pmr"},
                                    {"std.monotonic", "pmr"},
                                    {"glibc", "malloc"}}) {
    EXPECT_EQ(row_of(some, name, bound)["status"], "ok") << name;
    EXPECT_EQ(row_of(much, name, bound)["status"], "out_of_memory") << name;
    EXPECT_EQ(row_of(much, name, bound)["reason"], "no memory is left for so much litter") << name;
  }
}
#endif

TEST_F(MallardReplay, ATableThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(shell("$REPLAY --check-only --binding typed " + path_ + " 2>&1 >/dev/full").exit_code, 2);
  EXPECT_EQ(shell("$REPLAY --list-strategies 2>&1 >/dev/full").exit_code, 2);
}

TEST_F(MallardReplay, BindingsAndNamesSelectRows) {
  const json typed = rows("--binding typed --strategy multipool --strategy monotonic");
  std::vector<std::string> names;
  for (const json& r : typed) names.push_back(r["strategy"]);
  EXPECT_EQ(names, (std::vector<std::string>{"none", "glibc", "monotonic", "multipool", "glibc a/a"}));
}

TEST_F(MallardReplay, AStrategyThatCannotServeTheAlignmentIsSkipped) {
  using mallard::journal::event_kind;
  mallard::journal::writer journal(path_);
  journal.append({.kind = event_kind::memalign,
                  .thread = journal.add_thread({}),
                  .address = 4096,
                  .size = 9,
                  .alignment = 4096});
  journal.finish();
  const json selected = rows("--strategy boost.monotonic --strategy multipool --check-only");
  EXPECT_EQ(row_of(selected, "boost.monotonic", "pmr")["status"], "skipped");
  EXPECT_EQ(row_of(selected, "boost.monotonic", "pmr")["reason"],
            "serves alignments up to 16, the journal asks for 4096");
  EXPECT_EQ(row_of(selected, "multipool", "pmr")["status"], "ok");
}

TEST_F(MallardReplay, ExhaustionIsARowAndTheTableGoesOn) {
  if (sanitized) GTEST_SKIP() << "refused memory, a sanitizer waits for itself while it reports that";
  std::ofstream file(path_);
  for (int i = 1; i <= 64; ++i) file << "a 1048576 " << i << " 1 0\nf " << i << " 1 0\n";
  file.close();
  const json selected = rows(
      "--touch all --memory-limit 24M --strategy monotonic --strategy multipool --strategy std.monotonic");
  for (const char* bound : {"typed", "pmr"}) {
    EXPECT_EQ(row_of(selected, "monotonic", bound)["status"], "out_of_memory");
    EXPECT_TRUE(row_of(selected, "monotonic", bound)["ns_per_event"].is_null());
    EXPECT_EQ(row_of(selected, "multipool", bound)["status"], "ok");
  }
  EXPECT_EQ(row_of(selected, "std.monotonic", "pmr")["status"], "out_of_memory");
  EXPECT_NE(row_of(selected, "monotonic", "typed")["reason"].get<std::string>().find("at operation"),
            std::string::npos);
}

TEST_F(MallardReplay, ChecksAloneMeasureNothing) {
  for (const json& r : rows("--check-only --binding pmr")) {
    if (sanitized && r["binding"] == "malloc") continue;
    EXPECT_EQ(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["ns_per_event"].is_null());
    EXPECT_TRUE(r["max_held"].is_null());
  }
}

TEST_F(MallardReplay, BadInputIsOneLineAndExitCodeTwo) {
  const auto complaint = [](const std::string& command) {
    const run_result r = shell(command + " 2>&1");
    EXPECT_EQ(r.exit_code, 2) << r.out;
    EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 1) << r.out;
    return r.out;
  };
  EXPECT_EQ(complaint("$REPLAY /nonexistent"),
            "mallard-replay: cannot read /nonexistent: No such file or directory\n");
  EXPECT_TRUE(complaint("$REPLAY /dev/null").starts_with("mallard-replay: cannot read /dev/null: "));
  EXPECT_TRUE(complaint("$REPLAY " MALLARD_REPLAY).starts_with("mallard-replay: cannot read "));
  std::ofstream(path_) << "f 10 1 0\n";
  EXPECT_EQ(complaint("$REPLAY " + path_),
            "mallard-replay: " + path_ + " holds no allocation: nothing to replay\n");
}

TEST_F(MallardReplay, TheTextTableEndsWithAVerdict) {
  const run_result r = shell("$REPLAY --warm-time 0 --strategy boost.pool " + path_);
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_TRUE(r.out.starts_with("journal  ")) << r.out;
  EXPECT_NE(r.out.find("\nboost.pool  "), std::string::npos);
  EXPECT_NE(r.out.find(sanitized ? "No verdict" : "Best malloc: glibc"), std::string::npos) << r.out;
}

// Interrupted once it has a worker. A shell's background job would ignore the interrupt.
TEST_F(MallardReplay, InterruptedItPrintsWhatItHas) {
  const run_result r = shell(
      R"(exec perl -e '
        $SIG{CHLD} = sub { exit 99 };
        exec @ARGV or die if !($replay = fork);
        do { open F, "<", "/proc/$replay/task/$replay/children" } until <F> =~ /\d/;
        $SIG{CHLD} = "DEFAULT";
        kill INT => $replay;
        waitpid $replay, 0;
        exit($? >> 8)' $REPLAY --json --warm-time 60 )" +
      path_);
  EXPECT_EQ(r.exit_code, 130);
  const json whole = json::parse(r.out);
  EXPECT_EQ(whole["rows"].back()["status"], "skipped");
}

// The first 20,000 events of a fixture.
TEST_F(MallardReplay, ACurveIsDrawnOfEachStrategy) {
  shell("xz -dc " MALLARD_FIXTURES "/sqlite3.txt.xz | head -n 20000 > " + path_);
  const json all = rows("--curve --strategy multipool --strategy jemalloc --strategy std.pool");
  for (const json& r : all) {
    if (r["strategy"] == "none") {
      EXPECT_TRUE(r["curve"].is_null()) << "it holds its places, all the time";
      continue;
    }
    if (sanitized && r["binding"] == "malloc") continue;
    const json& curve = r["curve"];
    const std::size_t points = curve["event"].size();
    EXPECT_LE(points, 1000u);
    EXPECT_GT(points, 500u);
    for (const char* array : {"live", "granted", "held_min", "held_max"})
      EXPECT_EQ(curve[array].size(), points) << array;
    EXPECT_TRUE(std::ranges::is_sorted(curve["event"]));
    EXPECT_EQ(std::ranges::max(curve["live"]), r["max_live"]) << "that moment is a point";
    for (std::size_t i = 0; i < points; ++i) EXPECT_LE(curve["held_min"][i], curve["held_max"][i]);

    const json& measures = r["fragmentation_measures"];
    EXPECT_GE(measures["max_to_max"], measures["at_max_live"]) << measures;
    EXPECT_GE(measures["at_max_held"], measures["max_to_max"]) << measures;
    EXPECT_GE(measures["mean"], 1) << measures;
    const double most = std::ranges::max(curve["held_max"]);
    EXPECT_DOUBLE_EQ(measures["max_to_max"], most / r["max_live"].get<double>());
  }
  const json& pool = row_of(all, "multipool", "typed");
  EXPECT_EQ(pool["fragmentation_measures"]["max_to_max"], pool["fragmentation"]);
  EXPECT_TRUE(pool["curve"]["granted"].back().is_number());
  EXPECT_GE(pool["curve"]["granted"].back(), pool["curve"]["live"].back());
}

// Runs the program with a terminal as its standard error, and interrupts it when that says `moment`; what it
// has printed to `out`. Its exit code.
int interrupted_at(const std::string& moment, const std::string& options, const std::string& out) {
  int terminal = -1;
  int of_child = -1;
  EXPECT_EQ(::openpty(&terminal, &of_child, nullptr, nullptr, nullptr), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(of_child, STDERR_FILENO);
    ::close(terminal);
    const std::string line = "exec '" MALLARD_REPLAY "' " + options + " >" + out;
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(of_child);
  std::string said;
  std::array<char, 256> buffer{};
  bool is_interrupted = false;
  for (ssize_t got = 0; (got = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
    said.append(buffer.data(), static_cast<std::size_t>(got));
    if (is_interrupted || said.find(moment) == std::string::npos) continue;
    ::kill(child, SIGINT);
    is_interrupted = true;
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(is_interrupted) << said;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(MallardReplay, InterruptedWhileItDrawsItKeepsTheRowsThatAreMeasured) {
  write_many(path_);
  const std::string out = path_ + ".json";
  const std::string options = "--json --curve --warm-time 0 --binding typed " + path_;
  int exit_code = 0;  // 0 where the last curve was there before the interrupt
  for (int i = 0; i < 5 && exit_code == 0; ++i)
    exit_code = interrupted_at("curve of multipool", options, out);
  EXPECT_EQ(exit_code, 130);
  std::ifstream file(out);
  const json all = json::parse(file)["rows"];
  std::remove(out.c_str());
  for (const json& r : all) {
    if (sanitized && r["binding"] == "malloc") continue;
    EXPECT_EQ(r["status"], "ok") << r.dump();
    EXPECT_TRUE(r["ns_per_event"].is_number()) << r.dump();
    EXPECT_TRUE(r["max_held"].is_number()) << r.dump();
  }
  EXPECT_TRUE(row_of(all, "monotonic", "typed")["curve"].is_object()) << "drawn before";
  // How many more were drawn until the interrupt arrived depends on the load.
  std::vector<bool> is_drawn;
  for (const json& r : all)
    if (r["binding"] == "typed" && r["strategy"] != "none") is_drawn.push_back(r["curve"].is_object());
  EXPECT_TRUE(std::is_partitioned(is_drawn.begin(), is_drawn.end(), std::identity())) << all.dump();
}

TEST_F(MallardReplay, WithoutCurvesThereAreNone) {
  const run_result r = shell("$REPLAY --warm-time 0 --strategy multipool " + path_);
  EXPECT_EQ(r.out.find("held / live"), std::string::npos) << r.out;
  EXPECT_NE(shell("$REPLAY --curve --warm-time 0 --strategy multipool " + path_).out.find("\nheld / live"),
            std::string::npos);
  for (const json& row : rows("--strategy multipool")) EXPECT_TRUE(row["curve"].is_null());
}

// On a littered heap nobody can tell which granted bytes are the trace's.
TEST_F(MallardReplay, ACurveOnALitteredHeapIsNetOfLitter) {
  write_many(path_);
  const json all = rows("--curve --litter 10 --strategy multipool --strategy monotonic");
  const json& pool = row_of(all, "multipool", "typed");
  EXPECT_LT(std::ranges::max(pool["curve"]["held_max"]), 150'000);
  for (const json& granted : pool["curve"]["granted"]) EXPECT_TRUE(granted.is_null());
  EXPECT_TRUE(row_of(all, "monotonic", "typed")["curve"]["granted"].back().is_number());
}

TEST_F(MallardReplay, ShiftedHeapsAreMeasuredAtEachShift) {
  const run_result r =
      shell("$REPLAY --shift --json --warm-time 0 --strategy boost.dlmalloc " +
            std::string(slow_tests ? "--strategy multipool --strategy std.pool " : "") + path_);
  EXPECT_EQ(r.exit_code, 0);
  const json whole = json::parse(r.out);
  EXPECT_EQ(whole["shifts"], (json{0, 64, 1024, 2048, 4032}));
  EXPECT_NE(whole["method"].value("shift", "").find("boost.dlmalloc"), std::string::npos);
  for (const json& row : whole["rows"]) {
    if (sanitized && row["binding"] == "malloc") continue;
    EXPECT_EQ(row["by_shift"].size(), 5u) << row.dump();
  }
}

TEST_F(MallardReplay, BothFixturesPassEveryCheck) {
  for (const std::string name : {"sqlite3", "cc1plus"}) {
    const run_result r = shell("$REPLAY --check-only --json " + fixture(name, 50'000));
    EXPECT_EQ(r.exit_code, 0);
    const json whole = json::parse(r.out);
    for (const json& row : whole["rows"])
      EXPECT_EQ(row["status"], sanitized && row["binding"] == "malloc" ? row["status"] : "ok") << row.dump();
  }
}

// Percentiles are in order, none of the lowest times is above what came, and every strategy has its own.
void expect_latencies(const json& row, const char* kind) {
  const json& figures = row[kind];
  for (const json& list : {figures, figures["minimum"], figures["cold"]}) {
    double before = 0;
    for (const char* name : {"min", "p25", "p50", "p75", "p90", "p99", "p999", "p9999", "max"}) {
      ASSERT_TRUE(list[name].is_number()) << row.dump();
      EXPECT_LE(before, list[name]) << kind << " " << name << row.dump();
      before = list[name];
    }
  }
  for (const char* name : {"p50", "p90", "p99", "p999", "p9999", "max"})
    EXPECT_LE(figures["minimum"][name], figures[name]) << kind << " " << name << row.dump();
}

TEST_F(MallardReplay, SingleOperationsOfAFixtureAreTimed) {
  for (const std::string name : {"sqlite3", "cc1plus"}) {
    if (name == "cc1plus" && !slow_tests) continue;
    const run_result r = shell(
        "$REPLAY --json --litter 1 --warm-time 0 --latency --passes 3 --touch all --strategy multipool " +
        fixture(name, 5'000));
    ASSERT_EQ(r.exit_code, 0);
    const json whole = json::parse(r.out);
    EXPECT_EQ(whole["latency"]["passes"], 3);
    EXPECT_GT(whole["latency"]["overhead_ns"], 0);
    const auto events = whole["journal"]["events"].get<std::uint64_t>();
    for (const json& row : whole["rows"]) {
      if (sanitized && row["binding"] == "malloc") continue;
      EXPECT_EQ(row["status"], "ok") << row.dump();
      expect_latencies(row, "alloc_ns");
      expect_latencies(row, "free_ns");
      EXPECT_TRUE(row["realloc_ns"]["p50"].is_null());
      EXPECT_LE(row["worst"].size(), 10u);
      for (const json& w : row["worst"]) EXPECT_LT(w["event"], events);
      const json& kept = row["operations"];
      EXPECT_GE(kept["event"].size(), 100u);
      for (const char* array : {"ns", "size", "call"}) EXPECT_EQ(kept[array].size(), kept["event"].size());
      if (!row["worst"].empty()) {
        const auto most = std::ranges::max(kept["ns"].get<std::vector<double>>());
        EXPECT_EQ(most, row["worst"][0]["ns"]) << "the slowest is among those that are kept";
      }
    }
    EXPECT_EQ(row_of(whole["rows"], "multipool", "typed")["worst"].size(), 10u);
    EXPECT_EQ(row_of(whole["rows"], "multipool", "pmr")["worst"].size(), 10u);
  }
}

TEST_F(MallardReplay, TheTableOfSingleOperationsNamesTheWorst) {
  const run_result text = shell("$REPLAY --warm-time 0 --latency --passes 3 --strategy multipool " + path_);
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("\nSingle operations in ns, of each the lowest of 3 passes"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("\nThe worst by their lowest time\n"), std::string::npos);
}

TEST_F(MallardReplay, CallocsAreReplayedAsSuch) {
  using mallard::journal::event_kind;
  mallard::journal::writer journal(path_);
  const std::uint32_t thread = journal.add_thread({});
  for (std::uint64_t i = 1; i <= 300; ++i) {
    const std::uint64_t address = 4096 * (i % 100 + 1);
    journal.append({.kind = event_kind::calloc, .thread = thread, .address = address, .size = 10 * i});
    journal.append({.kind = event_kind::realloc,
                    .thread = thread,
                    .address = address,
                    .size = 11 * i,
                    .old_address = address});
    journal.append({.kind = event_kind::free, .thread = thread, .address = address});
  }
  journal.finish();
  const run_result r =
      shell("$REPLAY --json --warm-time 0 --latency --passes 2 " + some_strategies() + path_);
  EXPECT_EQ(r.exit_code, 0);
  const json whole = json::parse(r.out);
  EXPECT_EQ(whole["journal"]["allocations"], 300);
  EXPECT_EQ(whole["journal"]["callocs"], 300);
  for (const json& row : whole["rows"]) {
    if (sanitized && row["binding"] == "malloc") continue;
    EXPECT_EQ(row["status"], "ok") << row.dump();
    EXPECT_TRUE(row["alloc_ns"]["p50"].is_null()) << row.dump();
    expect_latencies(row, "calloc_ns");
    expect_latencies(row, "realloc_ns");
    expect_latencies(row, "free_ns");
  }
}

// What it has printed as JSON when it was interrupted.
json told_when_interrupted(const std::string& moment, const std::string& options,
                           const std::string& journal) {
  const std::string out = journal + ".json";
  EXPECT_EQ(
      interrupted_at(moment,
                     "--json --latency --strategy multipool --binding typed " + options + " " + journal, out),
      130);
  std::ifstream file(out);
  json whole = json::parse(file);
  std::remove(out.c_str());
  return whole;
}

// This many passes last a minute a row: what was measured before stands.
TEST_F(MallardReplay, InterruptedWhileOperationsAreTimedItKeepsTheTable) {
  write_many(path_);
  const json whole =
      told_when_interrupted("timing single operations of", "--warm-time 0 --passes 100000", path_);
  EXPECT_FALSE(whole["latency"].is_null());
  for (const json& row : whole["rows"]) {
    if (sanitized && row["binding"] == "malloc") continue;
    EXPECT_EQ(row["status"], "ok") << row.dump();
    EXPECT_TRUE(row["ns_per_event"].is_number()) << row.dump();
    EXPECT_TRUE(row["max_held"].is_number()) << row.dump();
    EXPECT_TRUE(row["alloc_ns"]["max"].is_null());
  }
}

// Then nothing says with which clock.
TEST_F(MallardReplay, InterruptedBeforeOperationsAreTimedItTellsNothingOfThem) {
  write_many(path_);
  EXPECT_TRUE(told_when_interrupted("round 1", "--warm-time 600", path_)["latency"].is_null());
}

#if !MALLARD_SANITIZED  // valgrind does not run sanitized programs
TEST_F(MallardReplay, InstructionCountsAreTheSameInEveryRun) {
  std::ofstream file(path_);
  for (int i = 1; i <= 500; ++i) file << "a " << i % 90 << " " << i * 16 << " 1 0\n";
  for (int i = 1; i <= 500; ++i) file << "f " << i * 16 << " 1 0\n";
  file.close();
  std::string options = "--instructions --strategy multipool";
  if (slow_tests) options += " --strategy jemalloc --strategy boost.pool";
  const json first = rows(options);
  const auto count = [](const json& row) { return row["instructions_per_event"].get<double>(); };
  for (const json& row : first) EXPECT_GT(count(row), 1) << row.dump();
  EXPECT_NEAR(count(row_of(first, "glibc a/a", "malloc")) / count(row_of(first, "glibc", "malloc")), 1,
              0.001);
  if (!slow_tests) return;
  const json second = rows(options);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_NEAR(count(second[i]) / count(first[i]), 1, 0.001) << first[i].dump();
}
#endif

TEST_F(MallardReplay, StrategiesAreListedForPeopleAndPrograms) {
  EXPECT_NE(shell("$REPLAY --list-strategies").out.find("multipool/monotonic"), std::string::npos);
  const json list = json::parse(shell("$REPLAY --list-strategies --json").out);
  EXPECT_EQ(list[0]["strategy"], "none");
  EXPECT_EQ(list[0]["binding"], "typed");
}

TEST_F(MallardReplay, HelpAndVersionExitCleanly) {
  EXPECT_EQ(shell("$REPLAY --help").exit_code, 0);
  const run_result version = shell("$REPLAY --version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("mallard-replay ")) << version.out;
}

}  // namespace
