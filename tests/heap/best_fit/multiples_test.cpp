#include "mallard/heap/best_fit/multiples.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace mallard {
namespace {

TEST(Multiples, AreThoseOfBoth) {
  for (std::size_t granule : {1u, 16u, 64u})
    for (std::size_t step = 1; step <= 200; ++step) {
      const multiples of(step, granule);
      const std::size_t common = std::lcm(step, granule);
      EXPECT_EQ(of.least(), common);
      for (std::size_t bytes :
           {std::size_t{0}, std::size_t{1}, common - 1, common, common + 1, std::size_t{10007}}) {
        EXPECT_EQ(of.down(bytes), bytes / common * common) << step << " and " << granule;
        EXPECT_EQ(of.up(bytes), (bytes + common - 1) / common * common) << step << " and " << granule;
      }
    }
}

TEST(Multiples, OfLargeObjects) {
  EXPECT_EQ(multiples(4096, 16).down(10000), 8192u);
  EXPECT_EQ(multiples(4098, 16).least(), 4098u * 8);
  EXPECT_EQ(multiples(24 * 1001, 16).up(1), 48048u);
}

}  // namespace
}  // namespace mallard
