// A session starts this program again, as a worker.
#include "program/group_session.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace mallard::bench {
namespace {

setting small() {
  setting asked;
  asked.density = {3, 4, 6, true};
  return asked;
}

TEST(Session, HasTheFirstAllocatorTwiceWhateverIsAskedFor) {
  const group_session one(small(), {{"AS7"}, 1, 1u << 30});
  std::vector<std::string> labels;
  for (const row& r : one.rows()) labels.push_back(r.of->label + (r.repeated ? " again" : ""));
  EXPECT_EQ(labels, (std::vector<std::string>{"AS1", "AS7", "AS1 again"}));
}

TEST(Session, TakesEveryFormOfAStrategy) {
  const group_session one(small(), {{"multipool"}, 1, 1u << 30});
  EXPECT_EQ(one.rows().size(), 1u + 4 + 1);
}

TEST(Session, SkipsWhatCannotFitTheLimit) {
  setting asked;
  asked.density = {12, 16, 4, true};
  group_session one(asked, {{"AS7"}, 1, 1u << 20});
  one.run();
  for (const row& r : one.rows()) {
    EXPECT_EQ(r.status, harness::row_status::skipped);
    if (r.of->bound != binding::malloc) {
      EXPECT_NE(r.reason.find("the limit is 1.00 MiB"), std::string::npos) << r.reason;
    }
    EXPECT_FALSE(r.measured());
  }
  EXPECT_FALSE(one.any_failed());
}

// A row of which each figure has three rounds, `width` apart of their median.
row with_widths(std::initializer_list<double> widths) {
  row r(allocators_of(benchmark::density)[0], 0, false);
  for (const double width : widths) {
    const double reach = 100 * width / 1.6;  // of the outer two; a spread leaves out a tenth at each end
    r.figures.push_back({{1, 100, 1000}, {100 - reach, 100, 100 + reach}, {}});
  }
  r.page_faults = {1, 1, 1};
  return r;
}

TEST(Rounds, AreAskedForByAWideSpread) {
  EXPECT_TRUE(is_wide(with_widths({0.11})));
  EXPECT_FALSE(is_wide(with_widths({0.09})));
  row by_the_clock = with_widths({0.01});
  by_the_clock.figures[0].wall_ns = {50, 100, 150};
  EXPECT_TRUE(is_wide(by_the_clock));
  row unmeasured = with_widths({0.5});
  unmeasured.figures[0] = {};
  EXPECT_FALSE(is_wide(unmeasured));
}

TEST(Rounds, AreNotAskedForByOneOfManyFigures) {
  EXPECT_FALSE(is_wide(with_widths({0.01, 0.9, 0.02})));
  EXPECT_TRUE(is_wide(with_widths({0.01, 0.9, 0.2})));
}

TEST(Rounds, EndWhereTurnsLastLong) {
  row first = with_widths({0});
  row wide = with_widths({0.9});
  first.took = wide.took = most_time_for_more - std::chrono::nanoseconds(1);
  EXPECT_TRUE(wants_more(wide, first));
  EXPECT_FALSE(wants_more(first, first));
  wide.took = most_time_for_more;
  EXPECT_FALSE(wants_more(wide, first));
  std::swap(wide.took, first.took);
  EXPECT_FALSE(wants_more(wide, first)) << "AS1 takes part in each round";
}

TEST(Session, CountsTheTimeOfItsTurns) {
  group_session one(small(), {{"AS7"}, 2, 1u << 30});
  one.run();
  for (const row& r : one.rows()) EXPECT_EQ(r.took.count() > 0, r.measured());
}

}  // namespace
}  // namespace mallard::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], mallard::bench::worker_flag) == 0)
    mallard::bench::be_worker(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
