#include "mallard/heap/best_fit/carve_burst.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "mallard/heap/best_fit/coalesce.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/memory_resource_source.hpp"

namespace mallard {
namespace {

class CarveBurst : public testing::Test {
 protected:
  coalesce<counting<memory_resource_source>, constant<16384>> blocks_;
  chain burst_;
};

// Whether a block lies right beside one of these. Its size may be above what was asked for.
bool adjoins(boundary_tag* one, const chain& blocks) {
  const auto end_of = [](const void* p) {
    return static_cast<const std::byte*>(p) + boundary_tag::of(p)->size();
  };
  const void* b = blocks.front();
  for (std::size_t i = 0; i != blocks.size(); ++i, b = chain::next(b))
    if (end_of(b) == one->data() || end_of(one->data()) == b) return true;
  return false;
}

TEST_F(CarveBurst, BlocksOfARunFollowEachOther) {
  ASSERT_TRUE(carve_burst(blocks_, burst_, 100, 64, 8, 4096));
  EXPECT_EQ(burst_.size(), 100u);
  EXPECT_EQ(blocks_.usage().carved, 6400u);
  EXPECT_FALSE(blocks_.validate());
  const void* p = burst_.front();
  for (int i = 1; i < 64; ++i, p = chain::next(p))
    EXPECT_EQ(chain::next(p), static_cast<const std::byte*>(p) + 64) << i;
}

// A run that would not fit into the rest of a chunk begins there and goes on in the next one.
TEST_F(CarveBurst, TheRestIsUsedUpFirst) {
  ASSERT_TRUE(carve_burst(blocks_, burst_, 1000, 64, 8, 0));
  EXPECT_FALSE(blocks_.validate());
  EXPECT_EQ(blocks_.usage().held, 16384u * 4) << "255 blocks in each of four chunks";
}

// Where a range ends in a chunk that another one begins in, what is left of it becomes the rest and is
// replaced by the next such end; each time a chunk is left without blocks.
TEST_F(CarveBurst, WhatEndsRangeByRangeLeavesNoChunksBehind) {
  std::array<chain, 40> ranges;
  for (chain& range : ranges) ASSERT_TRUE(carve_burst(blocks_, range, 1000, 32, 8, 0));
  for (chain& range : ranges)
    while (!range.empty()) blocks_.give_joined(take_joined(range));
  EXPECT_FALSE(blocks_.validate());
  EXPECT_LE(blocks_.usage().held, (std::size_t{64} << 10) + 2 * 16384);
}

TEST_F(CarveBurst, RunsHaveTheAlignmentAskedFor) {
  ASSERT_TRUE(carve_burst(blocks_, burst_, 20, 128, 128, 4096));
  for (const void* p = burst_.front(); p != nullptr; p = chain::next(p)) EXPECT_TRUE(is_aligned(p, 128));
  EXPECT_FALSE(blocks_.validate());
}

TEST_F(CarveBurst, SizesMayDiffer) {
  ASSERT_TRUE(carve_run(blocks_, burst_, 3, 32 + 64 + 48, 8,
                        [](std::size_t i) { return i == 1 ? 64u : 32 + 8 * i; }));
  const void* p = burst_.front();
  for (const std::size_t size : {32u, 64u, 48u}) {
    EXPECT_EQ(boundary_tag::of(p)->size(), size);
    p = chain::next(p);
  }
  EXPECT_FALSE(blocks_.validate());
}

TEST_F(CarveBurst, NeighboursAreJoinedInEitherOrder) {
  ASSERT_TRUE(carve_burst(blocks_, burst_, 10, 64, 8, 4096));
  chain reversed;
  while (!burst_.empty()) reversed.push_front(burst_.pop_front());
  boundary_tag* const all = take_joined(reversed);
  EXPECT_EQ(all->size(), 640u);
  EXPECT_TRUE(reversed.empty());
  blocks_.give(all);
  EXPECT_FALSE(blocks_.validate());

  ASSERT_TRUE(carve_burst(blocks_, burst_, 10, 64, 8, 4096));
  boundary_tag* apart = blocks_.allocate_aligned(64, 1024);
  if (adjoins(apart, burst_)) apart = blocks_.allocate_aligned(64, 1024);  // wherever the chunk lies
  ASSERT_FALSE(adjoins(apart, burst_));
  burst_.push_back(apart->data());
  EXPECT_EQ(take_joined(burst_)->size(), 640u);
  EXPECT_EQ(burst_.size(), 1u) << "no neighbour";
}

}  // namespace
}  // namespace mallard
