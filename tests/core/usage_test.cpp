#include "mallard/core/usage.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

TEST(HeapUsage, StartsAtNothing) { EXPECT_EQ(heap_usage{}, (heap_usage{0, 0, 0})); }

TEST(HeapUsage, IsEqualInAllThreeFigures) {
  const heap_usage usage{4096, 80, 64};
  EXPECT_EQ(usage, (heap_usage{4096, 80, 64}));
  EXPECT_NE(usage, (heap_usage{4097, 80, 64}));
  EXPECT_NE(usage, (heap_usage{4096, 81, 64}));
  EXPECT_NE(usage, (heap_usage{4096, 80, 65}));
}

TEST(Violation, IsTrueWhenSomethingIsWrong) {
  EXPECT_FALSE(violation{});
  EXPECT_TRUE((violation{"a chunk is missing"}));
}

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
