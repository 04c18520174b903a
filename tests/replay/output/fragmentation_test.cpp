#include "replay/output/fragmentation.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "replay/output/rows.hpp"

namespace mallard::replay {
namespace {

using json = nlohmann::json;
using testing::measured;
using testing::report_of;

// Four operations: live 100, 400, 1000, 200; held 300, 800, 1500, 1600.
held_curve example() {
  held_curve c;
  curve_recorder recorder(c);
  const std::uint64_t live[]{100, 400, 1000, 200};
  const std::uint64_t held[]{300, 800, 1500, 1600};
  for (std::size_t i = 0; i < 4; ++i) {
    recorder.add(i + 1, live[i], held[i], held[i]);
    recorder.weigh(static_cast<double>(held[i]), 1 / static_cast<double>(live[i]), 1);
    if (i % 2 == 1) recorder.close(i == 1 ? 700 : unknown_bytes);
  }
  recorder.finish();
  c.marks.held_at_max_live = 1500;
  return c;
}

row with_curve() {
  row r = measured("multipool", 2, 1600);
  r.internal = 10;
  r.header = 20;
  r.external = 3000;
  r.curve.emplace(example());
  return r;
}

TEST(Fragmentation, TheFourMeasuresOfAnExample) {
  const fragmentation_measures f = measures_of(example().marks, 1000);
  EXPECT_DOUBLE_EQ(f.mean.value(), (3.0 + 2.0 + 1.5 + 8.0) / 4);
  EXPECT_DOUBLE_EQ(f.at_max_live.value(), 1.5);
  EXPECT_DOUBLE_EQ(f.at_max_held.value(), 8.0);
  EXPECT_DOUBLE_EQ(f.max_to_max.value(), 1.6);
}

TEST(Fragmentation, WhereNothingIsLiveNothingIsKnown) {
  const fragmentation_measures f = measures_of({.max_held = 4096}, 0);
  EXPECT_FALSE(f.mean || f.at_max_live || f.at_max_held || f.max_to_max);
}

TEST(Fragmentation, TheTableHasMeasuresAndTheirParts) {
  const std::vector<row> rows{measured("glibc", 10, 1200), with_curve()};
  const auto table = fragmentation_table(report_of(rows));
  ASSERT_EQ(table.size(), 2u) << "rows without a curve are left out";
  EXPECT_EQ(table[1], (std::vector<std::string>{"multipool", "typed", "3.62", "1.50", "8.00", "1.60", "10 B",
                                                "20 B", "2.93 KiB"}));
  const std::string text = to_text(report_of(rows));
  EXPECT_NE(text.find("\nheld / live "), std::string::npos) << text;
  EXPECT_EQ(text.find("walks"), std::string::npos) << text;
  EXPECT_EQ(to_text(report_of({rows[0]})).find("held / live "), std::string::npos);
}

TEST(Fragmentation, WalksLeftOutAreTold) {
  row r = with_curve();
  r.curve->walks_left_out = 880;
  EXPECT_EQ(walks_left_out(report_of({r})),
            std::vector<std::string>{
                "The curve of multipool (typed) leaves out 880 walks: each would have been slow."});
}

TEST(Fragmentation, JsonHasTheCurveInArrays) {
  const std::vector<row> rows{measured("glibc", 10, 1200), with_curve()};
  session_options options;
  options.curve = true;
  const json whole = json::parse(to_json(report_of(rows, options)));
  EXPECT_TRUE(whole["rows"][0]["curve"].is_null());
  EXPECT_TRUE(whole["rows"][0]["fragmentation_measures"].is_null());
  const json& curve = whole["rows"][1]["curve"];
  EXPECT_EQ(curve["event"], (json{2, 4}));
  EXPECT_EQ(curve["live"], (json{400, 200}));
  EXPECT_EQ(curve["granted"], (json{700, nullptr}));
  EXPECT_EQ(curve["held_min"], (json{300, 1500}));
  EXPECT_EQ(curve["held_max"], (json{800, 1600}));
  EXPECT_EQ(curve["walks_left_out"], 0);
  EXPECT_EQ(whole["rows"][1]["fragmentation_measures"]["max_to_max"], 1.6);
  EXPECT_NE(whole["method"].value("curve", "").find("1000 points"), std::string::npos);
  EXPECT_EQ(json::parse(to_json(report_of(rows)))["method"]["curve"], "not drawn (--curve)");
}

}  // namespace
}  // namespace mallard::replay
