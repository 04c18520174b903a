#include "mallard/allocator/allocation_result.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

TEST(AllocationResult, IsAPlaceAndACountAsThoseOfTheStandard) {
  int ints[3] = {};
  const allocation_result<int*> result{ints, 3};
  const auto [place, count] = result;
  EXPECT_EQ(place, ints);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(result.ptr, ints);
  EXPECT_EQ(result.count, 3u);
}

}  // namespace
}  // namespace mallard
