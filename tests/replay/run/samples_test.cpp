#include "replay/run/samples.hpp"

#include <gtest/gtest.h>

namespace mallard::replay {
namespace {

TEST(Samples, ALongPassIsASampleOfItsOwn) {
  samples s(10'000'000);
  for (std::uint64_t ns : {4'000'000u, 9'000'000u, 5'000'000u}) {
    EXPECT_FALSE(s.enough());
    s.add(ns);
  }
  EXPECT_TRUE(s.enough());
  EXPECT_EQ(s.passes(), 3u);
  EXPECT_DOUBLE_EQ(s.median(), 5'000'000);
}

TEST(Samples, ThreeAreNeededHoweverLongOneTakes) {
  samples s(1);
  s.add(1'000'000'000);
  s.add(1'000'000'000);
  EXPECT_FALSE(s.enough());
}

TEST(Samples, ShortPassesAreTimedInBatches) {
  samples s(0);
  s.add(100);  // one pass: far too short to be timed
  EXPECT_GT(s.passes_a_sample(), 1000u);
  while (!s.enough()) s.add(100 * s.passes_a_sample());
  EXPECT_NEAR(s.median(), 100, 1e-6);
}

TEST(Samples, TheRoomIsBounded) {
  samples s(~std::uint64_t{0});
  std::uint64_t count = 0;
  while (!s.enough()) {
    s.add(1'000'000);
    ++count;
  }
  EXPECT_EQ(s.passes(), count);
}

}  // namespace
}  // namespace mallard::replay
