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
  EXPECT_EQ(names_in(whole),
            (std::vector<std::string>{"journal", "machine", "method", "litter", "shifts", "rows"}));
  EXPECT_EQ(names_in(whole["rows"][0]), (std::vector<std::string>{"strategy",
                                                                  "binding",
                                                                  "status",
                                                                  "reason",
                                                                  "ns_per_event",
                                                                  "spread",
                                                                  "cold_ns_per_event",
                                                                  "rounds_ns",
                                                                  "cold_rounds_ns",
                                                                   "by_shift", "threads",
                                                                  "alloc_ns",
                                                                  "free_ns",
                                                                  "max_held",
                                                                  "max_live",
                                                                  "fragmentation",
                                                                  "internal",
                                                                  "header",
                                                                  "external",
                                                                  "held_after",
                                                                  "fragmentation_measures",
                                                                  "curve",
                                                                  "page_faults",
                                                                  "instructions_per_event"}));
  EXPECT_EQ(names_in(whole["rows"][0]["alloc_ns"]),
            (std::vector<std::string>{"p50", "p99", "p999", "p9999", "max", "max_of_min"}));
  EXPECT_EQ(names_in(whole["rows"][0]["free_ns"]), names_in(whole["rows"][0]["alloc_ns"]));
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
  EXPECT_TRUE(glibc["alloc_ns"]["p50"].is_null());
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

}  // namespace
}  // namespace mallard::replay
