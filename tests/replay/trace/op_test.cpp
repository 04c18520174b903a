#include "replay/trace/op.hpp"

#include <gtest/gtest.h>

namespace mallard::replay {
namespace {

TEST(Op, TheNaturalAlignmentIsWhatAnObjectOfTheSizeCanNeed) {
  const auto natural = [](std::uint64_t size) { return 1 << natural_align_log2(size); };
  EXPECT_EQ(natural(0), 1);
  EXPECT_EQ(natural(1), 1);
  EXPECT_EQ(natural(5), 4);
  EXPECT_EQ(natural(8), 8);
  EXPECT_EQ(natural(15), 8);
  EXPECT_EQ(natural(16), 16);
  EXPECT_EQ(natural(17), 8);
  EXPECT_EQ(natural(24), 8);
  EXPECT_EQ(natural(48), 16);
  EXPECT_EQ(natural(4096), 16);
}

}  // namespace
}  // namespace mallard::replay
