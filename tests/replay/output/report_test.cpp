#include "replay/output/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "replay/output/rows.hpp"

namespace mallard::replay {
namespace {

using json = nlohmann::ordered_json;
using testing::failed;
using testing::measured;
using testing::report_of;

std::vector<std::string> names_in(const json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

std::vector<row> two_rows() {
  row own = measured("multipool", 2, 1500);
  own.internal = 10;
  own.header = 20;
  own.external = 30;
  return {measured("glibc", 10, 1200), own};
}

// The names are a contract: other tools and the benchmarks read them.
TEST(Report, JsonFieldsAreNamedAsEverywhere) {
  const std::vector<row> rows = two_rows();
  const json whole = json::parse(to_json(report_of(rows)));
  EXPECT_EQ(names_in(whole), (std::vector<std::string>{"journal", "machine", "method", "litter", "shifts",
                                                       "latency", "part", "rows"}));
  EXPECT_EQ(names_in(whole["rows"][0]), (std::vector<std::string>{"strategy",
                                                                  "binding",
                                                                  "status",
                                                                  "reason",
                                                                  "ns_per_event",
                                                                  "spread",
                                                                  "cold_ns_per_event",
                                                                  "rounds_ns",
                                                                  "cold_rounds_ns",
                                                                  "by_shift",
                                                                  "threads",
                                                                  "scale",
                                                                  "alloc_ns",
                                                                  "free_ns",
                                                                  "realloc_ns",
                                                                  "calloc_ns",
                                                                  "worst",
                                                                  "operations",
                                                                  "max_held",
                                                                  "max_live",
                                                                  "fragmentation",
                                                                  "internal",
                                                                  "header",
                                                                  "external",
                                                                  "held_after",
                                                                  "change_ns_per_block",
                                                                  "change_max_held",
                                                                  "fragmentation_measures",
                                                                  "curve",
                                                                  "page_faults",
                                                                  "instructions_per_event"}));
  for (const char* kind : {"alloc_ns", "free_ns", "realloc_ns", "calloc_ns"})
    EXPECT_EQ(names_in(whole["rows"][0][kind]),
              (std::vector<std::string>{"min", "p25", "p50", "p75", "p90", "p99", "p999", "p9999", "max",
                                        "tail", "count", "minimum", "cold"}));
}

TEST(Report, JsonHasTheFiguresAndNullForWhatIsNotKnown) {
  const std::vector<row> rows = two_rows();
  const json whole = json::parse(to_json(report_of(rows)));
  const json& glibc = whole["rows"][0];
  EXPECT_EQ(glibc["strategy"], "glibc");
  EXPECT_EQ(glibc["binding"], "malloc");
  EXPECT_EQ(glibc["status"], "ok");
  EXPECT_TRUE(glibc["reason"].is_null());
  EXPECT_DOUBLE_EQ(glibc["ns_per_event"], 10);
  EXPECT_LT(glibc["spread"][0], glibc["spread"][1]);
  EXPECT_DOUBLE_EQ(glibc["cold_ns_per_event"], 20);
  EXPECT_EQ(glibc["max_held"], 1200);
  EXPECT_EQ(glibc["max_live"], 1000);
  EXPECT_DOUBLE_EQ(glibc["fragmentation"], 1.2);
  EXPECT_EQ(glibc["held_after"], 600);
  EXPECT_EQ(glibc["page_faults"], 10);
  for (const char* name : {"internal", "header", "external", "instructions_per_event"})
    EXPECT_TRUE(glibc[name].is_null()) << name;
  for (const auto& [name, value] : glibc["alloc_ns"].items()) EXPECT_TRUE(value.is_null()) << name;
  EXPECT_TRUE(glibc["worst"].is_null());
  EXPECT_TRUE(whole["latency"].is_null());
  EXPECT_EQ(whole["rows"][1]["external"], 30);
}

// The middle of five shifts is a round's figure, and each shift has a median of its own.
TEST(Report, ShiftedHeapsHaveAFigureForEachShift) {
  std::vector<row> rows = two_rows();
  row& shifted = rows[1];
  shifted.warm_ns.clear();
  for (const double round : {0.0, 10.0, 20.0})
    shifted.add_round({.warm_ns = {5 + round, 1 + round, 2 + round, 9 + round, 4 + round},
                       .cold_ns = {50, 10, 20, 90, 40},
                       .page_faults = {3, 3, 4, 3, 8}});
  EXPECT_EQ(shifted.warm_ns, (std::vector<double>{4, 14, 24}));
  EXPECT_EQ(shifted.page_faults.back(), 3);

  session_options options;
  options.shift = true;
  const report_input report = report_of(rows, options);
  const json whole = json::parse(to_json(report));
  EXPECT_EQ(whole["shifts"], (json{0, 64, 1024, 2048, 4032}));
  EXPECT_TRUE(whole["rows"][0]["by_shift"].is_null());
  const json& last = whole["rows"][1]["by_shift"][4];
  EXPECT_EQ(last["ns_per_event"], 14);
  EXPECT_EQ(last["cold_ns_per_event"], 40);
  EXPECT_EQ(last["page_faults"], 8);
  EXPECT_NE(to_text(report).find("multipool                  15.0, 3  11.0, 3  12.0, 4"), std::string::npos)
      << to_text(report);
  EXPECT_TRUE(json::parse(to_json(report_of(rows)))["shifts"].is_null());
}

// A box plot is drawn from these: all rounds in the order they ran, and the median is of the same figures.
TEST(Report, JsonHasTheFigureOfEachRound) {
  const std::vector<row> rows{measured("glibc", 10, 1200),
                              failed("jemalloc", row_status::skipped, "libjemalloc.so.2 is not loaded")};
  const json whole = json::parse(to_json(report_of(rows)));
  const json& glibc = whole["rows"][0];
  EXPECT_EQ(glibc["rounds_ns"].get<std::vector<double>>(), rows[0].warm_ns);
  EXPECT_EQ(glibc["cold_rounds_ns"].get<std::vector<double>>(), rows[0].cold_ns);
  EXPECT_EQ(glibc["rounds_ns"][2], glibc["ns_per_event"]);
  EXPECT_TRUE(whole["rows"][1]["rounds_ns"].is_null());
  EXPECT_TRUE(whole["rows"][1]["cold_rounds_ns"].is_null());
}

TEST(Report, ARowThatCouldNotBeMeasuredSaysWhyInBothForms) {
  const std::vector<row> rows{
      measured("glibc", 10, 1200),
      failed("monotonic", row_status::out_of_memory, "std::bad_alloc at operation 7 of 9"),
      failed("jemalloc", row_status::skipped, "libjemalloc.so.2 is not loaded")};
  const json whole = json::parse(to_json(report_of(rows)));
  EXPECT_EQ(whole["rows"][1]["status"], "out_of_memory");
  EXPECT_EQ(whole["rows"][1]["reason"], "std::bad_alloc at operation 7 of 9");
  EXPECT_TRUE(whole["rows"][1]["ns_per_event"].is_null());
  EXPECT_TRUE(whole["rows"][1]["spread"].is_null());
  EXPECT_EQ(whole["rows"][2]["status"], "skipped");
  const std::string text = to_text(report_of(rows));
  EXPECT_NE(text.find("out_of_memory: std::bad_alloc at operation 7 of 9"), std::string::npos);
  EXPECT_NE(text.find("skipped: libjemalloc.so.2 is not loaded"), std::string::npos);
}

// Cells hold blanks only inside spaced figures such as "1.17 KiB", never two in a row.
std::vector<std::string> cells_of(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(start)) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find("  ", at), line.size());
      if (end != at)
        cells.push_back(line.substr(line.find_first_not_of(' ', at), end - line.find_first_not_of(' ', at)));
      at = line.find_first_not_of(' ', end);
    }
    return cells;
  }
  return {};
}

TEST(Report, TheTextTableHasRatiosBesideTimes) {
  const std::vector<row> rows = two_rows();
  const std::string text = to_text(report_of(rows));
  EXPECT_EQ(cells_of(text, "strategy  "),
            (std::vector<std::string>{"strategy", "binding", "ns/event", "spread", "x glibc", "x best malloc",
                                      "cold ns", "max held", "F", "held after", "faults", "status"}));
  EXPECT_EQ(cells_of(text, "multipool  "),
            (std::vector<std::string>{"multipool", "typed", "2.00", "1.97..2.03", "0.20", "0.20", "4.00",
                                      "1.46 KiB", "1.50", "750 B", "10", "ok"}));
}

TEST(Report, LitterIsANumberAndAMethod) {
  const std::vector<row> rows = two_rows();
  const json fresh = json::parse(to_json(report_of(rows)));
  EXPECT_EQ(fresh["litter"], 0);
  EXPECT_EQ(fresh["method"]["litter"], "none: the heap is fresh");
  EXPECT_EQ(fresh["method"]["footprint"].get<std::string>().find("litter"), std::string::npos);

  session_options options;
  options.litter = 10;
  const report_input littered = report_of(rows, options);
  const json whole = json::parse(to_json(littered));
  EXPECT_EQ(whole["litter"], 10);
  const std::string how = whole["method"]["litter"];
  EXPECT_TRUE(how.starts_with("10 x the blocks alive at the moment of most live bytes (9.77 KiB)")) << how;
  EXPECT_NE(how.find("1 in 10 is freed"), std::string::npos) << how;
  EXPECT_NE(whole["method"]["footprint"].get<std::string>().find("holes add nothing"), std::string::npos);
  EXPECT_NE(to_text(littered).find("\nlitter        10 x "), std::string::npos) << to_text(littered);
  options.litter = 1;
  EXPECT_NE(to_text(littered).find("1 in 2 is freed"), std::string::npos);
}

TEST(Report, TheTextNamesJournalMachineAndMethod) {
  const std::vector<row> rows = two_rows();
  const std::string text = to_text(report_of(rows));
  for (const char* start :
       {"journal  ", "machine  ", "rounds  ", "touch  ", "threads  ", "litter  ", "footprint  "})
    EXPECT_NE(text.find(std::string("\n") + start), text.starts_with(start) ? 0 : std::string::npos) << start;
  EXPECT_LT(text.find("\nstrategy  "), text.find("\nHow this was measured:\nmachine  ")) << text;
}

// One row of single operations: 500 allocations and frees, one reallocation, no calloc.
row::single_operations timed() {
  const auto around = [](double ns) {
    percentiles p{.p50 = ns, .p90 = ns + 1, .p99 = ns + 2, .p999 = ns + 3, .p9999 = ns + 4, .max = ns + 5};
    p.tail[0] = ns - 1;
    p.tail[1] = ns + 5;
    p.tail_count = 2;
    return p;
  };
  row::single_operations single;
  single.figures[operation::allocation] = {500, around(110), around(10), around(1110)};
  single.figures[operation::deallocation] = {500, around(120), around(20), around(1120)};
  single.figures[operation::reallocation] = {1, around(130), around(30), around(1130)};
  for (std::uint64_t i = 0; i < 10; ++i) {
    located_operation& w = single.worst.emplace_back();
    w.op = 70 + i;
    w.ns = 1000.4 - static_cast<double>(i);
    w.faults = i;
    w.event = 90 + i;
    w.size = 48;
    w.live_blocks = 5;
    w.live_bytes = 2048;
  }
  single.worst[0].kind = operation::reallocation;
  single.worst[0].old_size = 24;
  single.times.kept = {single.worst[9], single.worst[0]};
  single.times.grid = {512, 8};
  return single;
}

report_input report_of_latency(const std::vector<row>& rows, const session_options& options) {
  report_input in = report_of(rows, options);
  in.clock = harness::operation_clock{.tsc = true, .ns_per_tick = 0.5, .quantum = 20, .overhead = 50};
  return in;
}

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(part) != std::string::npos;
  return count;
}

TEST(Report, SingleOperationsHaveTheirMembers) {
  std::vector<row> rows = two_rows();
  rows[1].single = timed();
  session_options options;
  options.latency_passes = 30;
  const json whole = json::parse(to_json(report_of_latency(rows, options)));
  EXPECT_EQ(whole["latency"], (json{{"passes", 30},
                                    {"clock", "tsc"},
                                    {"ns_per_tick", 0.5},
                                    {"quantum_ns", 10.0},
                                    {"overhead_ns", 25.0}}));
  EXPECT_TRUE(whole["rows"][0]["alloc_ns"]["p50"].is_null()) << "it was not timed";
  EXPECT_TRUE(whole["rows"][0]["worst"].is_null());
  const json& pool = whole["rows"][1];
  EXPECT_EQ(pool["alloc_ns"]["p50"], 110.0);
  EXPECT_EQ(pool["alloc_ns"]["minimum"]["p99"], 12.0);
  EXPECT_EQ(pool["free_ns"]["cold"]["max"], 1125.0);
  EXPECT_EQ(pool["realloc_ns"]["minimum"]["p9999"], 34.0);
  for (const auto& [name, value] : pool["calloc_ns"].items()) EXPECT_TRUE(value.is_null()) << name;
  ASSERT_EQ(pool["worst"].size(), 10u);
  EXPECT_EQ(pool["worst"][0], (json{{"ns", 1000.4},
                                    {"event", 90},
                                    {"operation", 70},
                                    {"call", "realloc"},
                                    {"size", 48},
                                    {"old_size", 24},
                                    {"live_blocks", 5},
                                    {"live", 2048},
                                    {"page_faults", 0}}));
  EXPECT_TRUE(pool["worst"][1]["old_size"].is_null());
  EXPECT_EQ(pool["alloc_ns"]["count"], 500);
  EXPECT_EQ(pool["free_ns"]["minimum"]["tail"], (json{19.0, 25.0}));
  EXPECT_EQ(pool["operations"], (json{{"event", {99, 90}},
                                      {"ns", {991.4, 1000.4}},
                                      {"size", {48, 48}},
                                      {"call", {0, 2}},
                                      {"stretches", 512},
                                      {"steps_per_doubling", 8}}));
  EXPECT_TRUE(whole["rows"][0]["operations"].is_null());
}

TEST(Report, SizesAskedForAreOfTheJournal) {
  const std::vector<row> rows = two_rows();
  report_input in = report_of(rows);
  in.sizes = {{8, 8, 3}, {17, 20, 1}};
  EXPECT_EQ(
      json::parse(to_json(in))["journal"]["sizes"],
      (json{{{"from", 8}, {"to", 8}, {"allocations", 3}}, {{"from", 17}, {"to", 20}, {"allocations", 1}}}));
}

TEST(Report, SingleOperationsAreTablesBelowTheOther) {
  std::vector<row> rows = two_rows();
  rows[0].single = timed();
  rows[0].single->figures[operation::reallocation].count = 0;
  rows[1].single = timed();
  session_options options;
  options.latency_passes = 30;
  const std::string text = to_text(report_of_latency(rows, options));
  const std::string lowest = text.substr(text.find("the lowest of 30 passes"));
  EXPECT_EQ(cells_of(lowest, "strategy  "),
            (std::vector<std::string>{"strategy", "binding", "alloc p50", "p99", "p99.9", "max", "free p50",
                                      "p99", "p99.9", "max"}));
  EXPECT_EQ(cells_of(lowest, "multipool  "),
            (std::vector<std::string>{"multipool", "typed", "10", "12", "13", "15", "20", "22", "23", "25"}));
  const std::string others = lowest.substr(lowest.find("realloc p50"));
  EXPECT_EQ(cells_of(others, "glibc  "),
            (std::vector<std::string>{"glibc", "malloc", "-", "-", "-", "-", "-", "-", "-", "-"}));
  EXPECT_EQ(cells_of(others, "multipool  "),
            (std::vector<std::string>{"multipool", "typed", "30", "32", "33", "35", "-", "-", "-", "-"}));
  const std::string raw = text.substr(text.find("as they came in 30 passes"));
  EXPECT_EQ(cells_of(raw, "glibc  ")[2], "110");
  const std::string cold = text.substr(text.find("in the first pass of each process"));
  EXPECT_EQ(cells_of(cold, "glibc  ")[6], "1120");
  const std::string worst = text.substr(text.find("The worst "));
  EXPECT_EQ(cells_of(worst, "glibc  "),
            (std::vector<std::string>{"glibc", "malloc", "1000", "90", "70", "realloc", "24 to 48", "5",
                                      "2.00 KiB", "0"}));
  EXPECT_EQ(lines_with(worst, "2.00 KiB"), 6u) << "three of each";
  EXPECT_NE(text.find("\nclock         of single operations: the time-stamp counter"), std::string::npos);

  options.names = {"multipool"};
  EXPECT_EQ(lines_with(to_text(report_of_latency(rows, options)), "2.00 KiB"), 13u)
      << "ten of what was asked for";
}

TEST(Report, WithoutSingleOperationsNothingIsSaidOfThem) {
  const std::vector<row> rows = two_rows();
  const std::string text = to_text(report_of(rows));
  EXPECT_EQ(text.find("Single operations"), std::string::npos);
  EXPECT_EQ(text.find("\nclock "), std::string::npos);
  EXPECT_NE(text.find("\nlatency       single operations are not timed (--latency)"), std::string::npos);
}

// Where there is no such counter, or it is not steady, the method says so.
TEST(Report, AnotherClockIsNamed) {
  std::vector<row> rows = two_rows();
  rows[0].single = timed();
  rows[1].single = timed();
  for (row& r : rows) r.single->pinned = true;
  session_options options;
  options.latency_passes = 7;
  report_input in = report_of_latency(rows, options);
  in.clock->tsc = false;
  const json kernel = json::parse(to_json(in));
  EXPECT_EQ(kernel["latency"]["clock"], "CLOCK_MONOTONIC_RAW");
  EXPECT_NE(kernel["method"]["clock"].get<std::string>().find("CLOCK_MONOTONIC_RAW, as "), std::string::npos);
  EXPECT_NE(kernel["method"]["latency"].get<std::string>().find(", each on one CPU "), std::string::npos);
  rows[1].single->pinned = false;
  EXPECT_NE(to_text(in).find("not kept on one CPU"), std::string::npos);
}

}  // namespace
}  // namespace mallard::replay
