#include "p0089/utilization/rolling_blocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "tests/p0089/utilization/counting_binding.hpp"

namespace mallard::bench {
namespace {

struct RollingBlocks : ::testing::Test {
  counting_binding binding;
  counting_binding::life life{binding};
  std::array<void*, 4> ring{};
  rolling_blocks<counting_binding::life> blocks{life, ring, 32};

  static std::vector<std::uint64_t> first(std::size_t n) {
    std::vector<std::uint64_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
};

TEST_F(RollingBlocks, FillAllocatesWhatIsToBeAlive) {
  blocks.fill();
  EXPECT_EQ(binding.allocated, 4u);
  EXPECT_TRUE(binding.freed.empty());
}

TEST_F(RollingBlocks, TheOldestMakesRoomBeforeTheNextIsAllocated) {
  blocks.fill();
  blocks.turn_over(16);
  EXPECT_EQ(binding.allocated, 16u);
  EXPECT_EQ(binding.freed, first(12));
  EXPECT_EQ(binding.most_alive, 4u);
}

TEST_F(RollingBlocks, TheRestIsFreedOldestFirst) {
  blocks.fill();
  blocks.turn_over(10);
  blocks.drain();
  EXPECT_EQ(binding.freed, first(10));
  EXPECT_EQ(binding.alive, 0u);
}

TEST_F(RollingBlocks, EveryBlockHasTheSizeAndIsTouchedOnce) {
  blocks.fill();
  blocks.turn_over(16);
  blocks.drain();
  EXPECT_EQ(binding.sizes, std::vector<std::size_t>(32, 32));
  for (const auto& content : binding.contents) EXPECT_EQ(content[0], 1);
}

TEST_F(RollingBlocks, CountsWhatThereWasBeforeMemoryRanOut) {
  binding.most = 7;
  blocks.fill();
  EXPECT_THROW(blocks.turn_over(16), std::bad_alloc);
  EXPECT_EQ(blocks.count(), 7u);
}

}  // namespace
}  // namespace mallard::bench
