#include "mallard/core/align.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

TEST(Align, SizesAreRoundedToMultiples) {
  EXPECT_EQ(align_up(0, 16), 0u);
  EXPECT_EQ(align_up(1, 16), 16u);
  EXPECT_EQ(align_up(16, 16), 16u);
  EXPECT_EQ(align_up(17, 1), 17u);
  EXPECT_EQ(align_down(31, 16), 16u);
  EXPECT_EQ(align_down(32, 16), 32u);
}

TEST(Align, TheLargestRequestCanStillBeRounded) {
  EXPECT_EQ(align_up(max_request, 4096), std::size_t{1} << 63);
  EXPECT_EQ(align_up(max_request, max_request + 1), max_request + 1);
}

TEST(Align, PaddingLeadsToTheNextMultiple) {
  alignas(64) std::byte line[128];
  for (std::size_t offset = 0; offset < 64; ++offset) {
    const std::byte* const p = line + offset;
    EXPECT_EQ(padding_for(p, 64), offset == 0 ? 0 : 64 - offset);
    EXPECT_TRUE(is_aligned(p + padding_for(p, 64), 64));
    EXPECT_EQ(is_aligned(p, 64), offset == 0);
  }
}

TEST(Align, OnlyPowersOfTwoAreAlignments) {
  EXPECT_TRUE(is_valid_align(1));
  EXPECT_TRUE(is_valid_align(std::size_t{1} << 63));
  EXPECT_FALSE(is_valid_align(0));
  EXPECT_FALSE(is_valid_align(24));
}

}  // namespace
}  // namespace mallard
