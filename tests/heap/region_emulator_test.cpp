#include "mallard/heap/region_emulator.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

#include "mallard/heap/best_fit.hpp"

namespace mallard {
namespace {

static_assert(nestable<region_emulator> && clearable<region_emulator> && rewindable<region_emulator>);
static_assert(std::is_default_constructible_v<region_emulator>);
static_assert(heap_name<region_emulator> == "region_emulator");

TEST(RegionEmulator, NestsAsRegionsDo) {
  region_emulator connection;
  {
    region_emulator request(connection, nesting::ends_with_parent);
    for (std::size_t size = 1; size < 10'000; size = size * 3 / 2 + 1)
      std::memset(request.allocate(size, 16).data, 1, size);
  }
  region_emulator cached(connection, nesting::cleared_with_parent);
  ASSERT_TRUE(cached.allocate(100, 8));
  connection.clear();
  EXPECT_FALSE(cached.ended());
  EXPECT_TRUE(cached.allocate(100, 8));
}

TEST(RegionEmulator, LeavesNothingOfAFamilyBehind) {
  basic_region_emulator<best_fit> root;
  {
    basic_region_emulator<best_fit> child(root, nesting::ends_with_parent);
    basic_region_emulator<best_fit> grandchild(child, nesting::cleared_with_parent);
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(child.allocate(24, 8) && grandchild.allocate(48, 8));
    EXPECT_GT(root.upstream().usage().granted, 72'000u - 1);
    EXPECT_EQ(root.usage().granted, 0u) << "they are its children's";
  }
  EXPECT_EQ(root.upstream().usage().granted, 0u);
}

TEST(RegionEmulator, OutlivesItsParentAsAnEmptyOne) {
  auto* const parent = new region_emulator;
  region_emulator child(*parent, nesting::ends_with_parent);
  ASSERT_TRUE(child.allocate(100, 8));
  delete parent;
  EXPECT_TRUE(child.ended());
  EXPECT_FALSE(child.allocate(1, 1));
  EXPECT_EQ(child.records_held(), 0u);
}

}  // namespace
}  // namespace mallard
