#include "mallard/heap/reap/recent_large.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>

namespace mallard {
namespace {

struct RecentLarge : testing::Test {
  alignas(64) std::array<std::byte, 1 << 17> memory;
  recent_large recent;

  boundary_tag* block_at(std::size_t offset, std::size_t size) {
    auto* const b = reinterpret_cast<boundary_tag*>(memory.data() + offset + boundary_tag::overhead);
    b->set_used(size);
    return b;
  }
  bool is_whole() {
    return recent.each([](const boundary_tag*) { return true; });
  }
};

TEST_F(RecentLarge, TheNewestOfASizeServesTheNextRequest) {
  recent.put(block_at(0, 1040));
  recent.put(block_at(4096, 1040));
  recent.put(block_at(8192, 1104));
  EXPECT_EQ(recent.bytes(), 2 * 1040u + 1104);
  EXPECT_EQ(recent.count(), 3u);
  EXPECT_TRUE(is_whole());
  EXPECT_EQ(recent.take(1040, 16), block_at(4096, 1040));
  EXPECT_EQ(recent.take(1040, 16), block_at(0, 1040));
  EXPECT_EQ(recent.take(1040, 16), nullptr);
  EXPECT_EQ(recent.bytes(), 1104u);
  EXPECT_TRUE(is_whole());
}

// It is taken whole, for the largest size that it has room for.
TEST_F(RecentLarge, ABlockBetweenTwoSizesServesTheSmaller) {
  recent.put(block_at(0, 1088));
  EXPECT_EQ(recent.take(1104, 16), nullptr);
  EXPECT_EQ(recent.take(1040, 16), block_at(0, 1088));
  EXPECT_EQ(recent.bytes(), 0u);
}

TEST_F(RecentLarge, OnlyAnAlignedBlockServesAnAlignedRequest) {
  recent.put(block_at(16, 1040));
  EXPECT_EQ(recent.take(1040, 64), nullptr);
  recent.put(block_at(2048 - 2 * boundary_tag::overhead, 1040));
  EXPECT_EQ(recent.take(1040, 64), block_at(2048 - 2 * boundary_tag::overhead, 1040));
}

TEST_F(RecentLarge, AllAreTakenOutAndEachOnce) {
  std::set<boundary_tag*> expected;
  std::size_t offset = 0;
  for (std::size_t size = large_sizes::least; size < 12000; size += 1008, offset += size)
    expected.insert(block_at(offset, size));
  for (boundary_tag* b : expected) recent.put(b);
  EXPECT_TRUE(is_whole());
  recent.take_all([&](boundary_tag* b) { EXPECT_EQ(expected.erase(b), 1u); });
  EXPECT_TRUE(expected.empty());
  EXPECT_EQ(recent.count(), 0u);
  EXPECT_TRUE(is_whole());
}

TEST_F(RecentLarge, AnOverwrittenTagIsFound) {
  boundary_tag* const b = block_at(0, 1040);
  recent.put(b);
  b->set_used(2064);
  EXPECT_FALSE(is_whole());
}

}  // namespace
}  // namespace mallard
