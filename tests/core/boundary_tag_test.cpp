#include "mallard/core/boundary_tag.hpp"

#include <gtest/gtest.h>

#include "core/tagged_region.hpp"

namespace mallard {
namespace {

TEST(BoundaryTag, ARequestIsRoundedWithItsTag) {
  EXPECT_EQ(boundary_tag::block_size(0), 32u);
  EXPECT_EQ(boundary_tag::block_size(24), 32u);
  EXPECT_EQ(boundary_tag::block_size(25), 48u);
  EXPECT_EQ(boundary_tag::block_size(40), 48u);
  EXPECT_EQ(boundary_tag::block_size(41), 64u);
  EXPECT_EQ(boundary_tag::block_size(1000), 1008u);
}

TEST(BoundaryTag, LeadsToTheDataAndBack) {
  tagged_region<128> region;
  boundary_tag* const b = region.first();
  EXPECT_EQ(boundary_tag::of(b->data()), b);
  EXPECT_TRUE(is_aligned(b->data(), boundary_tag::granule));
  EXPECT_EQ(b->usable(), 120u);
}

TEST(BoundaryTag, NeighboursAreFoundBothWays) {
  tagged_region<128> region;
  boundary_tag* const used = region.divide(64);
  boundary_tag* const free = used->next();
  free->set_free(64);
  boundary_tag* const end = free->next();
  end->mark_previous_free();
  EXPECT_TRUE(used->is_used());
  EXPECT_FALSE(free->is_used());
  EXPECT_TRUE(free->is_previous_used());
  EXPECT_FALSE(end->is_previous_used());
  EXPECT_EQ(end->previous(), free);
  EXPECT_TRUE(end->ends_chunk());
  EXPECT_FALSE(used->ends_chunk());
}

TEST(BoundaryTag, AChangedSizeKeepsWhatIsKnownOfTheBlockBefore) {
  tagged_region<128> region;
  boundary_tag* const first = region.divide(64);
  boundary_tag* const second = first->next();
  second->mark_previous_free();
  second->resize(32);
  EXPECT_EQ(second->size(), 32u);
  EXPECT_TRUE(second->is_used());
  EXPECT_FALSE(second->is_previous_used());
}

TEST(BoundaryTag, TwoNeighboursBecomeOneInEitherOrder) {
  tagged_region<256> region;
  boundary_tag* const first = region.divide(64);
  boundary_tag* const second = first->next();
  second->resize(32);
  boundary_tag* const third = second->next();
  third->set_used(32);
  EXPECT_EQ(boundary_tag::merged(first, third), nullptr);
  EXPECT_EQ(boundary_tag::merged(third, second), second);
  EXPECT_EQ(second->size(), 64u);
  EXPECT_EQ(boundary_tag::merged(first, second), first);
  EXPECT_EQ(first->size(), 128u);
}

TEST(BoundaryTag, APlainBlockIsUsedAndSmallAndHasNotGrown) {
  tagged_region<256> region;
  boundary_tag* const b = region.divide(128);
  EXPECT_TRUE(b->is_plain_below(256));
  EXPECT_FALSE(b->is_plain_below(128));
  b->next()->mark_previous_free();
  EXPECT_TRUE(b->next()->is_plain_below(256)) << "whatever is before it";
  b->grow_to(144);
  EXPECT_EQ(b->size(), 144u);
  EXPECT_FALSE(b->is_plain_below(256));
  b->forget_growth();
  EXPECT_TRUE(b->is_plain_below(256));
  b->set_free(144);
  EXPECT_FALSE(b->is_plain_below(256));
  alignas(16) std::size_t words[4] = {0, 64, 0, 0};
  EXPECT_FALSE(boundary_tag::of(&words[2])->is_plain_below(256)) << "it is from elsewhere";
}

TEST(BoundaryTag, WhatIsTakenOfABlockLeavesABlockOrNothing) {
  EXPECT_TRUE(boundary_tag::can_take(256, 256));
  EXPECT_FALSE(boundary_tag::can_take(240, 256));
  EXPECT_TRUE(boundary_tag::can_take(224, 256));
  EXPECT_FALSE(boundary_tag::can_take(272, 256));
}

TEST(BoundaryTag, CanBeLookedAtAsItWasAMomentAgo) {
  tagged_region<128> region;
  boundary_tag* const second = region.divide(64)->next();
  const boundary_tag before = second->seen();
  second->mark_previous_free();
  EXPECT_TRUE(before.is_previous_used());
  EXPECT_FALSE(second->seen().is_previous_used());
  EXPECT_EQ(second->seen().size(), second->size());
  EXPECT_TRUE(second->seen().is_used());
  second->mark_previous_used();
  EXPECT_TRUE(second->seen().is_previous_used());
}

TEST(BoundaryTag, TellsABlockThatIsAllOfItsChunk) {
  tagged_region<128> region;
  EXPECT_TRUE(region.first()->is_whole_chunk());
  boundary_tag* const last = region.divide(64)->next();
  last->set_free(64);
  EXPECT_FALSE(last->is_whole_chunk());
}

TEST(BoundaryTag, AWordOfAnotherKindIsToldFromATag) {
  alignas(16) std::size_t words[4] = {0, 64, 0, 0};
  EXPECT_TRUE(boundary_tag::of(&words[2])->is_from_elsewhere());
  tagged_region<128> region;
  EXPECT_FALSE(region.divide(64)->is_from_elsewhere());
}

}  // namespace
}  // namespace mallard
