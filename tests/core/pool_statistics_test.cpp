#include "mallard/core/pool_statistics.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

TEST(PoolStatistics, LiveIsWhatWasCarvedAndIsNotFree) {
  EXPECT_EQ((pool_statistics{48, 300, 100}.live()), 200u);
  EXPECT_EQ(pool_statistics{}.live(), 0u);
}

TEST(PoolStatistics, AreEqualInAllThreeFigures) {
  const pool_statistics found{48, 3, 1};
  EXPECT_EQ(found, (pool_statistics{48, 3, 1}));
  EXPECT_NE(found, (pool_statistics{40, 3, 1}));
  EXPECT_NE(found, (pool_statistics{48, 4, 1}));
  EXPECT_NE(found, (pool_statistics{48, 3, 2}));
}

}  // namespace
}  // namespace mallard
