#include "common/block_sizes.hpp"

#include <gtest/gtest.h>

#include <map>

#include "program/benchmarks.hpp"

namespace mallard::bench {
namespace {

std::map<std::size_t, std::size_t> sizes_of(const harness::litter_plan& plan) {
  std::map<std::size_t, std::size_t> sizes;
  for (const harness::size_weight& s : plan.sizes) sizes[s.size] = s.weight;
  return sizes;
}

TEST(BlockSizes, AreThoseOfLiveBlocks) {
  block_sizes blocks;
  (void)blocks.allocate(48, 8);
  (void)blocks.allocate(48, 8);
  (void)blocks.allocate(100, 8);
  void* const ended = blocks.allocate(200, 8);
  blocks.deallocate(ended, 200, 8);
  const harness::litter_plan plan = blocks.plan(3);
  EXPECT_EQ(sizes_of(plan), (std::map<std::size_t, std::size_t>{{48, 2}, {100, 1}}));
  EXPECT_EQ(plan.live, 3u);
  EXPECT_EQ(plan.times, 3u);
}

TEST(BlockSizes, LeaveOutWhatMallocsMapByItself) {
  block_sizes blocks;
  (void)blocks.allocate(block_sizes::largest, 8);
  (void)blocks.allocate(block_sizes::largest + 1, 8);
  EXPECT_EQ(blocks.plan(1).live, 1u);
}

TEST(CountBlocks, OfASetAreItsNodesAndItsTable) {
  setting asked;
  asked.density = {3, 6, 20, true};
  block_sizes blocks;
  count_blocks(asked, blocks);
  const auto sizes = sizes_of(blocks.plan(1));
  EXPECT_EQ(sizes.at(16), 64u) << "a node: a pointer and a number";
  EXPECT_EQ(sizes.size(), 3u) << "nodes, the table, and the set itself";
}

}  // namespace
}  // namespace mallard::bench
