#include "mallard/core/block.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

TEST(Block, IsFalseOnlyWhenNull) {
  char bytes[4];
  EXPECT_FALSE(block{});
  EXPECT_TRUE((block{bytes, 4}));
}

TEST(Block, IsEqualByPlaceAndSize) {
  char bytes[4];
  EXPECT_EQ((block{bytes, 4}), (block{bytes, 4}));
  EXPECT_NE((block{bytes, 4}), (block{bytes, 3}));
  EXPECT_NE((block{bytes, 4}), (block{bytes + 1, 4}));
}

}  // namespace
}  // namespace mallard
