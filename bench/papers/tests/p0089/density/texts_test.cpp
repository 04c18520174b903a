#include "p0089/density/texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>

namespace mallard::bench {
namespace {

TEST(Texts, HaveThePapersLengthsEvenlySpread) {
  const texts all;
  double total = 0;
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (std::size_t i = 0; i < texts::count; ++i) {
    total += static_cast<double>(all[i].size());
    least = std::min(least, all[i].size());
    most = std::max(most, all[i].size());
  }
  EXPECT_EQ(least, 33u);
  EXPECT_EQ(most, 1000u);
  EXPECT_NEAR(total / texts::count, (33 + 1000) / 2.0, 5);
}

TEST(Texts, DifferSoThatASetDropsNone) {
  const texts all;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < texts::count; ++i) seen.insert(all[i]);
  EXPECT_EQ(seen.size(), texts::count);
}

TEST(Texts, AreTheSameInEveryProcess) {
  const texts one;
  const texts another;
  for (std::size_t i : {std::size_t{0}, std::size_t{1}, texts::count - 1}) EXPECT_EQ(one[i], another[i]);
  EXPECT_EQ(one[0], one[texts::count]) << "they begin again";
}

}  // namespace
}  // namespace mallard::bench
