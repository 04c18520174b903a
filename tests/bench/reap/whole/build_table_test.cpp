#include "whole/build_table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using namespace mallard::whole;

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
