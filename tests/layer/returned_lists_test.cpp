#include "mallard/layer/returned_lists.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace mallard {
namespace {

struct alignas(16) smallest_block {
  std::array<std::byte, returned_batches::least_block> bytes;
};

TEST(ReturnedLists, KeepBatchesOfSizesApartAndCountThemTogether) {
  returned_lists<3, true> returned;
  std::array<smallest_block, 3> blocks;
  EXPECT_EQ(returned.count(), 0);
  returned.push(0, batch::of(&blocks[0]));
  returned.push(2, batch::of(&blocks[1]));
  returned.push(2, batch::of(&blocks[2]));
  EXPECT_EQ(returned.count(), 3);
  EXPECT_FALSE(returned.pop(1));
  EXPECT_EQ(returned.count(), 3);
  EXPECT_EQ(static_cast<void*>(returned.pop(2).first), &blocks[2]);
  EXPECT_EQ(static_cast<void*>(returned.pop_single(2).first), &blocks[1]);
  EXPECT_EQ(static_cast<void*>(returned.pop(0).first), &blocks[0]);
  EXPECT_EQ(returned.count(), 0);
}

TEST(ReturnedLists, CanBeLookedThroughAndForgotten) {
  returned_lists<2, true> returned;
  std::array<smallest_block, 2> blocks;
  returned.push(1, batch::of(&blocks[0]));
  returned.push(1, batch::of(&blocks[1]));
  std::size_t found = 0;
  returned.for_each(1, [&](batch b) { return (found += b.count) != 0; });
  EXPECT_EQ(found, 2u);
  returned.for_each(0, [](batch) { return ADD_FAILURE(), true; });
  returned.clear();
  EXPECT_EQ(returned.count(), 0);
  EXPECT_FALSE(returned.pop(1));
}

// What counts nothing is as large as its lists.
static_assert(sizeof(returned_lists<4, false>) == 4 * sizeof(returned_batches));

}  // namespace
}  // namespace mallard
