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

TEST(RegionOp, KeepsEachOfItsPartsAtTheirLargest) {
  const std::uint64_t most = (std::uint64_t{1} << 47);
  const region_op o{region_op_kind::deallocate, 0xFFFF'FFFE, 0xFFFF'FFFD, most, 47};
  EXPECT_EQ(o.kind(), region_op_kind::deallocate);
  EXPECT_EQ(o.region(), 0xFFFF'FFFE);
  EXPECT_EQ(o.block(), 0xFFFF'FFFD);
  EXPECT_EQ(o.size(), most);
  EXPECT_EQ(o.align(), most);

  const region_op last{region_op_kind::ended_by_destroy, 7};
  EXPECT_EQ(last.kind(), region_op_kind::ended_by_destroy);
  EXPECT_EQ(last.parent(), no_region);
  EXPECT_EQ(last.size(), 0u);
  EXPECT_EQ(last.align(), 1u);
}

TEST(RegionOp, BlocksAskForWhatRegionProgramsPadTo) {
  const std::pair<std::uint64_t, int> expected[] = {{0, 0}, {1, 0}, {2, 1}, {3, 1},  {4, 2},
                                                    {7, 2}, {8, 3}, {9, 3}, {16, 3}, {1000, 3}};
  for (const auto& [size, align_log2] : expected) EXPECT_EQ(region_align_log2(size), align_log2) << size;
}

}  // namespace
}  // namespace mallard::replay
