#include "p0089/locality/notation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <utility>

namespace mallard::bench {

bool operator==(const locality_run& a, const locality_run& b) {
  return a.global == b.global && a.subsystem == b.subsystem && a.access == b.access &&
         a.shuffle == b.shuffle && a.repeat == b.repeat && a.access_first == b.access_first;
}

std::ostream& operator<<(std::ostream& out, const locality_run& r) {
  return out << r.global << ' ' << r.subsystem << ' ' << r.access << ' ' << (r.access_first ? '-' : '+')
             << r.shuffle << ' ' << r.repeat;
}

namespace {

TEST(Notation, ReadsEveryExampleOfThePaper) {
  const std::array<std::pair<const char*, locality_run>, 8> examples{{
      {"-20 18 32 -3 8", {1 << 20, 1 << 18, 32, 3, 8, true}},
      {"-20 18 32 +3 8", {1 << 20, 1 << 18, 32, 3, 8, false}},
      {"-20 18 8 +3 32", {1 << 20, 1 << 18, 8, 3, 32, false}},
      {"-21 18 8 +3 32", {1 << 21, 1 << 18, 8, 3, 32, false}},
      {"-21 19 8 +3 32", {1 << 21, 1 << 19, 8, 3, 32, false}},
      {"-21 19 8 +5 32", {1 << 21, 1 << 19, 8, 5, 32, false}},
      {"-21 19 0 +5 32", {1 << 21, 1 << 19, 0, 5, 32, false}},
      {"-21 19 8 +5 0", {1 << 21, 1 << 19, 8, 5, 0, false}},
  }};
  for (const auto& [text, run] : examples) {
    ASSERT_TRUE(parse_run(text)) << text;
    EXPECT_EQ(*parse_run(text), run) << text;
  }
}

TEST(Notation, TakesSizesAsTheyAreWhereTheFirstIsPositive) {
  ASSERT_TRUE(parse_run("10000000 1000 10 5 1"));
  EXPECT_EQ(*parse_run("10000000 1000 10 5 1"), (locality_run{10'000'000, 1000, 10, 5, 1, false}));
}

TEST(Notation, IsFreeInItsBlanks) {
  ASSERT_TRUE(parse_run("  -4\t2 1  0 1 "));
  EXPECT_EQ(*parse_run("  -4\t2 1  0 1 "), (locality_run{16, 4, 1, 0, 1, false}));
}

TEST(Notation, RefusesWhatIsNoRun) {
  for (const char* text :
       {"", "-20", "-20 18 8 3", "-20 18 8 3 32 1", "-20 18 8 3 x", "-20 18 8 +-3 32", "-20 18 8 3 32!",
        "-20 21 8 3 32", "-20 -1 8 3 32", "16 17 1 1 1", "0 0 1 1 1", "16 0 1 1 1", "-41 1 1 1 1",
        "-20 18 -8 3 32", "-20 18 8 3 -32", "-20 18 8 3 99999999999999999999", "20 18,8,3 32"})
    EXPECT_FALSE(parse_run(text)) << text;
}

}  // namespace
}  // namespace mallard::bench
