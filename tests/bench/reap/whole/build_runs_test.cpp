#include "whole/build_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/terminal.hpp"
#include "harness/work.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace mallard::whole;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const build& c : mallard::whole::builds()) all.push_back(c.name());
  return all;
}

TEST(builds, begin_with_region_and_end_with_it) {
  EXPECT_EQ(names().front(), "region");
  EXPECT_EQ(names().back(), "region again");
}

TEST(builds, use_each_malloc_beneath_emulated_regions_and_beneath_none) {
  const std::vector<std::string> all = names();
  for (const mallard::harness::foreign_malloc& m : mallard::harness::foreign_mallocs())
    for (const char* kind : {"region_emulator ", "individual "})
      EXPECT_EQ(std::ranges::count(all, kind + std::string(m.name)), 1) << kind << m.name;
}

TEST(builds, have_different_names) {
  std::vector<std::string> all = names();
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

std::string complaint_about(const std::vector<std::string>& asked) {
  try {
    static_cast<void>(mallard::whole::builds(asked));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

TEST(builds, are_chosen_by_name_or_kind_beside_the_first) {
  const auto chosen = [](const std::vector<std::string>& asked) {
    std::vector<std::string> all;
    for (const build& c : mallard::whole::builds(asked)) all.push_back(c.name());
    return all;
  };
  EXPECT_EQ(chosen({}), names());
  EXPECT_EQ(chosen({"individual jemalloc", "reap"}),
            (std::vector<std::string>{"region", "reap", "individual jemalloc"}));
  EXPECT_EQ(chosen({"individual"}).size(), 1 + mallard::harness::foreign_mallocs().size());
}

TEST(builds, that_are_unknown_are_refused_with_the_known_names) {
  EXPECT_EQ(complaint_about({"reap"}), "");
  EXPECT_TRUE(complaint_about({"reap", "hoard"})
                  .starts_with("unknown strategy hoard; known: region, sized_reap, sized_reap_frees, "))
      << complaint_about({"reap", "hoard"});
}

// A program that is a script.
void write_program(const mallard::test::scratch_folder& folder, const std::string& name,
                   const std::string& script) {
  std::ofstream(folder / name) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
}

TEST(session, takes_turns_and_shifts_the_heap_in_each_round) {
  const mallard::test::scratch_folder folder;
  const std::string log = (folder / "log").string();
  write_program(folder, "toy-region", "echo region $2 >>" + log);
  write_program(folder, "toy-reap", "echo reap $2 >>" + log);
  const auto rows = measure({(folder / "").string(), "toy", "input"},
                            {{"region", nullptr, false}, {"reap", nullptr, false}}, 1);
  EXPECT_EQ(
      mallard::test::contents(log),
      "region 0\nreap 0\nregion 64\nreap 64\nregion 1024\nreap 1024\nregion 2048\nreap 2048\nregion 4032\n"
      "reap 4032\n");
  ASSERT_EQ(rows.size(), 2u);
  for (const row& r : rows) {
    EXPECT_TRUE(r.measured());
    EXPECT_EQ(r.reason, "");
    EXPECT_EQ(r.ratios.size(), shifts.size());
    EXPECT_EQ(r.page_faults.size(), shifts.size());
    for (const auto& figures : r.cpu_ms) EXPECT_EQ(figures.size(), 1u);
  }
  for (const double ratio : rows[0].ratios) EXPECT_EQ(ratio, 1);
}

TEST(session, leaves_out_what_fails_and_what_says_something_is_missing) {
  const mallard::test::scratch_folder folder;
  write_program(folder, "toy-region", "exit 0");
  write_program(folder, "toy-reap", "echo no memory >&2; exit 3");
  write_program(folder, "toy-individual", "echo cannot be preloaded >&2");
  const auto rows =
      measure({(folder / "").string(), "toy", "input"},
              {{"region", nullptr, false}, {"reap", nullptr, false}, {"individual", nullptr, false}}, 1);
  EXPECT_TRUE(rows[0].measured());
  EXPECT_FALSE(rows[1].measured());
  EXPECT_NE(rows[1].reason.find("no memory"), std::string::npos) << rows[1].reason;
  EXPECT_FALSE(rows[2].measured());
  EXPECT_NE(rows[2].reason.find("cannot be preloaded"), std::string::npos) << rows[2].reason;
}

// Figures of a round without the first would be ratios to nothing, or to another round.
TEST(session, ends_where_the_first_fails_with_the_rounds_before) {
  const mallard::test::scratch_folder folder;
  const std::vector<build> both{{"region", nullptr, false}, {"reap", nullptr, false}};
  write_program(folder, "toy-reap", "exit 0");
  write_program(folder, "toy-region", "exit 3");
  const auto never = measure({(folder / "").string(), "toy", "input"}, both, 1);
  EXPECT_EQ(never[0].status, mallard::harness::row_status::failed);
  EXPECT_EQ(never[1].status, mallard::harness::row_status::skipped);
  EXPECT_EQ(never[1].reason, "region could not be measured");
  EXPECT_TRUE(never[1].ratios.empty());

  write_program(folder, "toy-region", "[ $2 -lt 1024 ]");
  const auto twice = measure({(folder / "").string(), "toy", "input"}, both, 1);
  EXPECT_EQ(twice[0].status, mallard::harness::row_status::failed);
  EXPECT_EQ(twice[0].ratios.size(), 2u);
  EXPECT_EQ(twice[1].status, mallard::harness::row_status::ok);
  EXPECT_EQ(twice[1].ratios.size(), 2u);
  EXPECT_EQ(twice[1].reason, "region could not be measured");
}

// To be last: an interrupt stays.
TEST(session_interrupted, skips_what_has_not_had_its_turn) {
  const mallard::test::scratch_folder folder;
  mallard::harness::watch_for_interrupt();
  write_program(folder, "toy-region", "exit 0");
  write_program(folder, "toy-reap", "kill -INT $PPID; sleep 1");
  const auto rows = measure({(folder / "").string(), "toy", "input"},
                            {{"region", nullptr, false}, {"reap", nullptr, false}}, 1);
  EXPECT_EQ(rows[0].status, mallard::harness::row_status::ok);
  EXPECT_EQ(rows[1].status, mallard::harness::row_status::skipped);
  EXPECT_EQ(rows[1].reason, "interrupted before its turn");
}

TEST(session, tells_the_median_of_the_shifts_own_medians) {
  row r;
  r.cpu_ms = {{{10, 12, 11}, {20, 20, 90}, {30}, {40}, {15}}};
  EXPECT_EQ(r.cpu().median, 20);
  EXPECT_EQ(r.cpu().around.low, 11);
  EXPECT_EQ(r.cpu().around.high, 40);
}

std::vector<row> two_rows() {
  row first{{"region", nullptr, false}, {}, {1, 1, 1, 1, 1}, {500, 500, 500, 500, 500}, {}};
  first.cpu_ms = {{{100}, {101}, {102}, {103}, {104}}};
  row second{
      {"reap", nullptr, false}, {}, {}, {}, "exited with code 3", mallard::harness::row_status::failed};
  return {first, second};
}

TEST(table, tells_figures_and_reasons) {
  EXPECT_EQ(
      as_text("interpreter", two_rows()),
      "interpreter                     CPU ms   lowest  highest  of region     low    high  page faults\n"
      "region                             102      100      104      1.000   1.000   1.000          500\n"
      "reap                          exited with code 3\n");
}

TEST(table, tells_what_had_no_turn_as_skipped) {
  const row waiting{{"reap", nullptr, false},
                    {},
                    {},
                    {},
                    "interrupted before its turn",
                    mallard::harness::row_status::skipped};
  const auto made = as_json("interpreter", {waiting});
  EXPECT_EQ(made["rows"][0]["status"], "skipped");
  EXPECT_EQ(made["rows"][0]["reason"], "interrupted before its turn");
  EXPECT_FALSE(made["rows"][0].contains("cpu_ms"));
}

TEST(table, has_machine_and_method_around_its_rows) {
  const auto made = as_json("interpreter", two_rows());
  EXPECT_EQ(made["benchmark"], "interpreter");
  EXPECT_TRUE(made["machine"].contains("kernel"));
  EXPECT_NE(made["method"].get<std::string>().find("4032"), std::string::npos);
  ASSERT_EQ(made["rows"].size(), 2u);
  EXPECT_EQ(made["rows"][0]["cpu_ms"], 102);
  EXPECT_EQ(made["rows"][0]["page_faults"], 500);
  EXPECT_EQ(made["rows"][1]["status"], "failed");
  EXPECT_FALSE(made["rows"][1].contains("cpu_ms"));
}

TEST(method, names_the_machine) { EXPECT_NE(method().find("kernel: "), std::string::npos); }

}  // namespace
