#include "mallard/heap/best_fit/joined_blocks.hpp"

#include <gtest/gtest.h>

#include "core/tagged_region.hpp"

namespace mallard {
namespace {

violation look(const boundary_tag*) { return {}; }

// One chunk whose free block is the rest.
class JoinedBlocks : public testing::Test {
 protected:
  static constexpr std::size_t room = 16384;

  JoinedBlocks() { blocks_.adopt(region_.first()); }

  void give(boundary_tag* b) {
    if (!blocks_.give_small(b)) blocks_.put(blocks_.join(b));
    EXPECT_FALSE(blocks_.validate(look));
  }

  tagged_region<room> region_;
  joined_blocks blocks_;
};

TEST_F(JoinedBlocks, SmallBlocksAreCarvedFromTheRestOneBehindTheOther) {
  boundary_tag* const first = blocks_.carve(64);
  boundary_tag* const second = blocks_.carve(48);
  EXPECT_EQ(first, region_.first());
  EXPECT_EQ(second, first->next());
  EXPECT_EQ(second->size(), 48u);
  EXPECT_EQ(blocks_.rest(), second->next());
  EXPECT_EQ(blocks_.rest()->size(), room - 64 - 48);
}

TEST_F(JoinedBlocks, AFreedBlockServesTheNextRequestOfItsSize) {
  boundary_tag* const first = blocks_.carve(64);
  static_cast<void>(blocks_.carve(64));
  give(first);
  EXPECT_EQ(blocks_.carve(64), first);
}

TEST_F(JoinedBlocks, TheSmallestThatFitsIsSplit) {
  boundary_tag* const larger = blocks_.carve(512);
  static_cast<void>(blocks_.carve(32));
  boundary_tag* const smaller = blocks_.carve(256);
  static_cast<void>(blocks_.carve(32));
  give(larger);
  give(smaller);
  EXPECT_EQ(blocks_.carve(128), smaller);
  EXPECT_EQ(blocks_.carve(128), smaller->next()) << "what remained of it";
  EXPECT_EQ(blocks_.carve(128), larger);
}

TEST_F(JoinedBlocks, WhatWouldRemainBelowABlockStaysWithIt) {
  boundary_tag* const b = blocks_.carve(80);
  static_cast<void>(blocks_.carve(32));
  give(b);
  EXPECT_EQ(blocks_.carve(64), b);
  EXPECT_EQ(b->size(), 80u);
}

TEST_F(JoinedBlocks, FreeNeighboursAreJoinedOnBothSides) {
  boundary_tag* const first = blocks_.carve(64);
  boundary_tag* const second = blocks_.carve(64);
  boundary_tag* const third = blocks_.carve(64);
  static_cast<void>(blocks_.carve(32));
  give(first);
  give(third);
  give(second);
  EXPECT_EQ(first->size(), 192u);
  EXPECT_EQ(blocks_.carve(192), first);
}

TEST_F(JoinedBlocks, ALargeBlockThatIsFreedIsUsedBeforeALargerRest) {
  boundary_tag* const large = blocks_.carve(2048);
  static_cast<void>(blocks_.carve(32));
  give(large);
  EXPECT_EQ(blocks_.rest(), large);
  EXPECT_EQ(blocks_.carve(48), large);
}

TEST_F(JoinedBlocks, TheRestIsJoinedWhenItIsGivenUp) {
  boundary_tag* const b = blocks_.carve(2048);
  EXPECT_TRUE(blocks_.give_small(blocks_.carve(64)));
  blocks_.retire_rest();
  EXPECT_FALSE(blocks_.retire_rest());
  EXPECT_EQ(blocks_.at_least(32)->size(), room - 2048);
  give(b);
  blocks_.retire_rest();
  EXPECT_EQ(blocks_.idle(), room);
}

TEST_F(JoinedBlocks, ABlockIsCarvedOutOfTheMiddle) {
  blocks_.retire_rest();
  boundary_tag* const carved = blocks_.carve_at(region_.first(), 4096, 512);
  EXPECT_EQ(carved, region_.first()->at(4096));
  EXPECT_EQ(carved->size(), 512u);
  EXPECT_FALSE(blocks_.validate(look));
  give(carved);
  blocks_.retire_rest();
  EXPECT_EQ(blocks_.idle(), room);
}

TEST_F(JoinedBlocks, ABlockIsCutAndGrowsBehind) {
  boundary_tag* const b = blocks_.carve(1024);
  blocks_.cut(b, 512);
  EXPECT_EQ(blocks_.rest(), b->at(512)) << "the rest grew by what was cut off";
  EXPECT_EQ(blocks_.room_behind(b), room - 512);
  blocks_.join_behind(b);
  EXPECT_EQ(b->size(), room);
  EXPECT_EQ(blocks_.room_behind(b), 0u);
  EXPECT_FALSE(blocks_.can_cut(b, room - 16)) << "no block would remain";
  blocks_.cut(b, 64);
  blocks_.retire_rest();
  EXPECT_EQ(blocks_.room_behind(b), room - 64);
  give(b);
}

TEST_F(JoinedBlocks, ABlockGrowsBefore) {
  boundary_tag* const before = blocks_.carve(256);
  boundary_tag* const b = blocks_.carve(64);
  EXPECT_EQ(blocks_.room_before(b), 0u);
  give(before);
  EXPECT_EQ(blocks_.room_before(b), 256u);
  boundary_tag* const grown = blocks_.join_before(b, 96);
  EXPECT_EQ(grown, before->at(160));
  EXPECT_EQ(grown->size(), 160u);
  EXPECT_EQ(blocks_.join_before(grown, 160), before) << "all of it";
  EXPECT_EQ(before->size(), 320u);
  EXPECT_FALSE(blocks_.validate(look));
}

TEST_F(JoinedBlocks, ABlockGrowsIntoTheRestBehindIt) {
  boundary_tag* const first = blocks_.carve(64);
  boundary_tag* const last = blocks_.carve(64);
  EXPECT_FALSE(blocks_.grow_into_rest(first, 128)) << "it is not the last one";
  EXPECT_FALSE(blocks_.grow_into_rest(last, 64)) << "it has as many";
  EXPECT_FALSE(blocks_.grow_into_rest(last, room - 64 - 16)) << "the rest would be no block";
  EXPECT_TRUE(blocks_.grow_into_rest(last, 4096));
  EXPECT_EQ(last->size(), 4096u);
  EXPECT_EQ(blocks_.rest(), last->next());
  EXPECT_EQ(blocks_.rest()->size(), room - 64 - 4096);
  EXPECT_EQ(blocks_.carve(32), last->next());
  EXPECT_FALSE(blocks_.validate(look));
}

TEST_F(JoinedBlocks, ABlockGoesBackToTheRestBehindIt) {
  boundary_tag* const first = blocks_.carve(64);
  boundary_tag* const last = blocks_.carve(2048);
  blocks_.give_to_rest(last);
  EXPECT_EQ(blocks_.rest(), last);
  EXPECT_EQ(blocks_.rest()->size(), room - 64);
  boundary_tag* const again = blocks_.carve(2048);
  give(first);
  blocks_.give_to_rest(again);
  EXPECT_EQ(blocks_.rest(), first) << "with what is free before it";
  EXPECT_TRUE(blocks_.rest()->is_whole_chunk());
  EXPECT_EQ(blocks_.at_least(32), nullptr);
  EXPECT_EQ(blocks_.take_rest(), first);
  EXPECT_EQ(blocks_.rest()->size(), 0u);
}

TEST_F(JoinedBlocks, ABlockTakesFromTheRestBeforeItAndGoesBackToIt) {
  boundary_tag* const hole = blocks_.carve(2048);
  boundary_tag* const b = blocks_.carve(1024);
  static_cast<void>(blocks_.carve(32));
  give(hole);
  ASSERT_TRUE(blocks_.follows_rest(b));
  EXPECT_EQ(blocks_.room_before(b), 2048u);
  boundary_tag* const grown = blocks_.join_before(b, 512);
  EXPECT_EQ(grown, hole->at(1536));
  EXPECT_EQ(grown->size(), 1536u);
  EXPECT_EQ(blocks_.rest()->size(), 1536u);
  blocks_.give_to_rest(grown);
  EXPECT_EQ(blocks_.rest(), hole);
  EXPECT_EQ(blocks_.rest()->size(), 2048u + 1024);
  boundary_tag* const last = blocks_.carve_at(blocks_.at_least(4096), 0, 64);
  EXPECT_FALSE(blocks_.follows_rest(last));
  EXPECT_FALSE(blocks_.validate(look));
}

TEST_F(JoinedBlocks, ABlockTakesAllOfTheRestBeforeIt) {
  boundary_tag* const hole = blocks_.carve(2048);
  boundary_tag* const b = blocks_.carve(1024);
  give(hole);
  EXPECT_EQ(blocks_.join_before(b, 2048), hole);
  EXPECT_EQ(hole->size(), 3072u);
  EXPECT_EQ(blocks_.rest()->size(), 0u);
  EXPECT_FALSE(blocks_.validate(look));
}

}  // namespace
}  // namespace mallard
