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

TEST(Fault, IsTrueWhenSomethingIsWrong) {
  EXPECT_FALSE(violation{});
  EXPECT_TRUE((violation{"a chunk is missing"}));
}

}  // namespace
}  // namespace mallard
