#include "mallard/heap/sized_reap/sized_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <new>

namespace mallard {
namespace {

struct SizedBlocks : testing::Test {
  alignas(64) std::array<std::byte, 65536> memory;
  sized_blocks blocks;

  std::byte* at(std::size_t offset) { return memory.data() + offset; }
  bool is_whole() {
    return blocks.each([](const void*, std::size_t) { return true; });
  }
};

TEST_F(SizedBlocks, ServesTheSizeThatWasGiven) {
  blocks.put(at(0), 40);
  EXPECT_EQ(blocks.take_exact(48, 8), nullptr);
  EXPECT_EQ(blocks.take_exact(40, 8), at(0));
  EXPECT_EQ(blocks.bytes(), 0u);
}

TEST_F(SizedBlocks, FindsAnAlignmentAmongTheLastFew) {
  blocks.put(at(64), 40);
  blocks.put(at(8), 40);
  EXPECT_EQ(blocks.take_exact(40, 16), at(64));
  EXPECT_EQ(blocks.take_exact(40, 16), nullptr);
  EXPECT_EQ(blocks.take_exact(40, 8), at(8));
}

TEST_F(SizedBlocks, CutsTheSmallestThatIsLargeEnough) {
  blocks.put(at(0), 600);
  blocks.put(at(1000), 64);
  EXPECT_EQ(blocks.take_small(48, 8), at(1000));
  EXPECT_EQ(blocks.take_exact(16, 8), at(1048));
  EXPECT_EQ(blocks.take_small(600, 8), at(0));
  EXPECT_EQ(blocks.take_small(8, 8), nullptr);
}

TEST_F(SizedBlocks, AllAreTakenOutAndEachOnce) {
  std::map<const std::byte*, std::size_t> expected;
  for (std::size_t i = 0; i < 200; ++i) expected[at(i * 16)] = 8;
  expected[at(8000)] = 400;
  expected[at(16000)] = 2000;
  for (const auto& [p, size] : expected) blocks.put(const_cast<std::byte*>(p), size);
  std::map<const std::byte*, std::size_t> taken;
  blocks.take_all([&](const std::byte* p, std::size_t size) { EXPECT_TRUE(taken.emplace(p, size).second); });
  EXPECT_EQ(taken, expected);
  EXPECT_EQ(blocks.bytes(), 0u);
  EXPECT_TRUE(is_whole());
}

TEST_F(SizedBlocks, AlignedLargeBlocksAreLookedForByFit) {
  blocks.put(at(16), 1040);
  blocks.put(at(2048), 1056);
  std::size_t received = 0;
  EXPECT_EQ(blocks.take_large(1040, 16, received), at(16));
  blocks.put(at(16), 1040);
  EXPECT_EQ(blocks.take_large(1040, 64, received), at(2048));
  EXPECT_EQ(received, 1056u);
}

TEST_F(SizedBlocks, EndsEmptyWhenCleared) {
  blocks.put(at(0), 4000);
  blocks.put(at(5000), 48);
  blocks.clear();
  EXPECT_EQ(blocks.bytes(), 0u);
  EXPECT_EQ(blocks.take_exact(48, 8), nullptr);
  EXPECT_EQ(blocks.take_small(8, 8), nullptr);
  EXPECT_TRUE(is_whole());
  blocks.put(at(0), 56);
  EXPECT_EQ(blocks.take_exact(48, 8), nullptr);
  EXPECT_EQ(blocks.take_exact(56, 8), at(0));
}

// What lies in their memory before they begin is not zero.
TEST_F(SizedBlocks, BeginWhereNothingIsWritten) {
  alignas(sized_blocks) std::byte place[sizeof(sized_blocks)];
  sized_blocks& fresh = *::new (std::memset(place, 0xff, sizeof place)) sized_blocks;
  const auto written =
      std::count_if(place, std::end(place), [](std::byte b) { return b != std::byte{0xff}; });
  EXPECT_LE(written, 48);
  EXPECT_EQ(fresh.take_exact(40, 8), nullptr);
  EXPECT_EQ(fresh.take_exact(40, 16), nullptr);
  EXPECT_EQ(fresh.take_small(8, 8), nullptr);
  std::size_t received = 0;
  EXPECT_EQ(fresh.take_large(2000, 8, received), nullptr);
  fresh.take_all([](const std::byte*, std::size_t) { ADD_FAILURE(); });
  EXPECT_TRUE(fresh.each([](const void*, std::size_t) { return true; }));
  fresh.open();
  fresh.put_small(at(0), 40);
  fresh.open();
  EXPECT_EQ(fresh.take_exact(40, 8), at(0)) << "open once for all";
}

}  // namespace
}  // namespace mallard
