#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "replay/output/report.hpp"

namespace mallard::replay {
namespace {

// 1,000 operations, 100 of whose 500 blocks are the part's.
trace_facts facts_of_part() {
  trace_facts f;
  f.events = 1000;
  f.threads = 1;
  f.allocations = 500;
  f.deallocations = 500;
  f.part = {.heaps = 3, .events = 200, .blocks = 100};
  return f;
}

row measured(std::string_view name, std::vector<double> warm_ns, std::uint64_t held, bool repeated = false) {
  const auto all = strategies(subject::blocks, true);
  const auto found = std::ranges::find(all, name, &strategy::name);
  row r(*found, static_cast<std::size_t>(found - all.begin()), repeated);
  r.warm_ns = std::move(warm_ns);
  r.cold_ns = r.warm_ns;
  r.page_faults.assign(r.warm_ns.size(), 10);
  r.max_held = held;
  r.held_after = held;
  return r;
}

class PartVerdict : public ::testing::Test {
 protected:
  PartVerdict() { options_.baseline = harness::find_foreign_malloc("glibc"); }

  [[nodiscard]] report_input report() const {
    return {"run.mlrd", "/usr/bin/true", {}, facts_, 0.5, harness::machine_facts{}, options_, rows_};
  }
  [[nodiscard]] std::string verdict() const {
    std::string text;
    for (const std::string& line : verdict_of(report())) text += line + '\n';
    return text;
  }

  const trace_facts facts_ = facts_of_part();
  session_options options_;
  // From round to round the machine is slower.
  std::vector<row> rows_{measured("none", {2, 2, 2}, 7000), measured("glibc", {10, 20, 30}, 4096),
                         measured("pool", {9, 19, 29}, 5120), measured("monotonic", {8, 18, 28}, 9216),
                         measured("glibc", {10.01, 20, 29.99}, 4096, true)};
};

TEST_F(PartVerdict, AChangeIsFromTheFigureOfTheSameRoundABlockOfThePart) {
  const auto change = change_of(rows_[2], report());
  ASSERT_TRUE(change);
  EXPECT_DOUBLE_EQ(change->median, -10);
  EXPECT_DOUBLE_EQ(change->around.low, -10) << "a ns an operation less in every round, however slow";
  EXPECT_DOUBLE_EQ(change->around.high, -10);
  EXPECT_EQ(held_change_of(rows_[2], report()), 1024);
  EXPECT_EQ(held_change_of(rows_[1], report()), 0);
  EXPECT_DOUBLE_EQ(change_of(rows_[1], report())->median, 0);
}

TEST_F(PartVerdict, NothingIsSaidOfWhatWasNotMeasured) {
  EXPECT_FALSE(change_of(rows_[0], report())) << "the baseline is no strategy";
  EXPECT_FALSE(held_change_of(rows_[0], report()));
  rows_[2].warm_ns.clear();
  rows_[2].max_held.reset();
  EXPECT_FALSE(change_of(rows_[2], report()));
  EXPECT_FALSE(held_change_of(rows_[2], report()));
  rows_[1].warm_ns.clear();
  EXPECT_FALSE(change_of(rows_[3], report()));
  EXPECT_EQ(verdict(), "No verdict: glibc was not measured to compare with.\n");
}

TEST_F(PartVerdict, TheFastestIsNamedAndTheFastestOfThoseThatTakeLittleMore) {
  EXPECT_EQ(
      verdict(),
      "A/A: glibc measured a second time differs from itself by -0.1 to 0.1 ns a block of the part; "
      "differences of that size mean nothing.\n"
      "Fastest: monotonic takes 20.0 ns less a block of the part than glibc (20.0 to 20.0), and 5.00 KiB "
      "more memory in all.\n"
      "Fastest within 150 % of the memory of glibc alone: pool takes 10.0 ns less a block of the part than "
      "glibc (10.0 to 10.0), and 1.00 KiB more memory in all.\n");
  rows_[2].max_held = 40'000;
  EXPECT_NE(verdict().find("Within 150 % of the memory of glibc alone there is nothing to gain"),
            std::string::npos)
      << verdict();
}

TEST_F(PartVerdict, WhatIsWithinTheSpreadIsNoGain) {
  rows_[3].warm_ns = {10, 21, 30};
  rows_[2].warm_ns = {9.99, 20.01, 29.99};
  EXPECT_NE(verdict().find("Nothing to gain beyond the spread: leave the part to glibc."), std::string::npos)
      << verdict();
}

TEST_F(PartVerdict, TheTableHasItsChangesAndNoRatios) {
  const std::string text = to_text(report());
  for (const char* part :
       {"change ns/block", "its spread", "change held", "-10.0", "+1.00 KiB",
        "100 blocks, 20.0 % of all, in 3 heaps of their own; what is around them in glibc"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  EXPECT_EQ(text.find("x glibc"), std::string::npos) << text;
}

}  // namespace
}  // namespace mallard::replay
