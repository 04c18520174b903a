#include "p0089/contention/contention_pairs.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/p0089/utilization/counting_way.hpp"

namespace mallard::bench {
namespace {

TEST(Pairs, AreFreedBeforeTheNextIsAllocated) {
  counting_way way;
  counting_way::life life(way);
  run_pairs(life, 16, 64);
  EXPECT_EQ(way.allocated, 16u);
  EXPECT_EQ(way.most_alive, 1u);
  EXPECT_EQ(way.freed.size(), 16u);
  EXPECT_EQ(way.sizes, std::vector<std::size_t>(32, 64));
  for (const auto& content : way.contents) EXPECT_EQ(content[0], 1);
}

}  // namespace
}  // namespace mallard::bench
