#include "mallard/heap/best_fit/free_blocks.hpp"

#include <gtest/gtest.h>

#include "core/tagged_region.hpp"

namespace mallard {
namespace {

violation look(const boundary_tag*) { return {}; }

class FreeBlocks : public testing::Test {
 protected:
  tagged_region<1024> small_region_;
  tagged_region<4096> large_region_;
  free_blocks blocks_;
};

TEST_F(FreeBlocks, SmallAndLargeOnesAreFoundByOneSearch) {
  boundary_tag* const small = small_region_.divide(512);
  small->set_free(512);
  boundary_tag* const large = large_region_.divide(2048);
  large->set_free(2048);
  blocks_.put(small, 512);
  blocks_.put(large, 2048);
  EXPECT_EQ(blocks_.at_least(32), small);
  EXPECT_EQ(blocks_.small_at_least(512), small);
  EXPECT_EQ(blocks_.at_least(528), large);
  EXPECT_EQ(blocks_.small_at_least(528), nullptr);
  EXPECT_EQ(blocks_.at_least(2064), nullptr);
  EXPECT_FALSE(blocks_.validate(look));
  blocks_.remove(small, 512);
  EXPECT_EQ(blocks_.at_least(32), large);
  blocks_.remove(large, 2048);
  EXPECT_EQ(blocks_.at_least(32), nullptr);
}

TEST_F(FreeBlocks, ChunksOfOneFreeBlockAreIdle) {
  boundary_tag* const all = large_region_.first();
  blocks_.put(all, 4096);
  EXPECT_EQ(blocks_.idle(), 4096u);
  EXPECT_FALSE(blocks_.validate(look));
  blocks_.remove(all, 4096);
  EXPECT_EQ(blocks_.idle(), 0u);
  blocks_.put(all, 4096);
  blocks_.clear();
  EXPECT_EQ(blocks_.idle(), 0u);
  EXPECT_EQ(blocks_.at_least(32), nullptr);
}

TEST_F(FreeBlocks, WhatIsBrokenIsTold) {
  boundary_tag* const all = large_region_.first();
  blocks_.put(all, 4096);
  EXPECT_TRUE(blocks_.validate([](const boundary_tag*) { return violation{"of the walker"}; }));
  all->next()->mark_previous_used();
  EXPECT_FALSE(blocks_.validate(look)) << "what lies around a block is not its affair";
  all->next()->set_end(64);
  EXPECT_STREQ(blocks_.validate(look).what, "free_blocks: the idle chunks do not add up");
}

}  // namespace
}  // namespace mallard
