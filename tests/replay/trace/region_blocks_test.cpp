#include "replay/trace/region_blocks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mallard::replay {
namespace {

using slots = std::vector<std::uint32_t>;

slots end_all(region_blocks& alive, std::uint32_t region) {
  slots ended;
  EXPECT_TRUE(alive.end_all(region, [&](std::uint32_t slot, const region_blocks::block&) {
    ended.push_back(slot);
    return true;
  }));
  return ended;
}

TEST(RegionBlocks, AreListedByRegionYoungestFirst) {
  region_blocks alive(6, 2);
  for (const std::uint32_t slot : {3u, 0u, 5u, 1u})
    alive.add({region_op_kind::allocate, 0, slot, 8, 3}, nullptr, 1);
  alive.add({region_op_kind::allocate, 1, 2, 8, 3}, nullptr, 1);
  alive.remove(0);  // in the middle
  alive.remove(1);  // the youngest
  EXPECT_EQ(end_all(alive, 0), (slots{5, 3}));
  EXPECT_EQ(end_all(alive, 0), slots{});
  EXPECT_EQ(end_all(alive, 1), slots{2});

  alive.add({region_op_kind::allocate, 1, 3, 8, 3}, nullptr, 1);
  EXPECT_EQ(end_all(alive, 1), slots{3}) << "a slot of another region before";
}

TEST(RegionBlocks, StopWhereAskedTo) {
  region_blocks alive(2, 1);
  alive.add({region_op_kind::allocate, 0, 0, 8, 3}, nullptr, 1);
  alive.add({region_op_kind::allocate, 0, 1, 8, 3}, nullptr, 1);
  EXPECT_FALSE(alive.end_all(0, [](std::uint32_t slot, const region_blocks::block&) { return slot != 1; }));
  EXPECT_EQ(end_all(alive, 0), (slots{1, 0})) << "the one that stopped it has not ended";
}

}  // namespace
}  // namespace mallard::replay
