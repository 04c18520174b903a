#include "mallard/heap/adaptive_pool/slab_shape.hpp"

#include <gtest/gtest.h>

#include <set>

namespace mallard {
namespace {

constexpr slab_shape::headers lost = {48, 56, 16};

TEST(SlabShape, HasRoomForTheNodesOfTheForm) {
  constexpr slab_shape shape = slab_shape::of<slab_form<>>(24, 8, lost);
  EXPECT_EQ(shape.bytes(), 8192u);
  EXPECT_EQ(shape.pieces, 1u);
  EXPECT_EQ(shape.words(), (8192u / 24 + 63) / 64);
}

TEST(SlabShape, FindsEverySlotOfEverySizeByAMultiplication) {
  for (std::size_t size = 8; size < 5000; size += 8) {
    const slab_shape shape = slab_shape::of<slab_form<>>(size, 8, lost);
    ASSERT_EQ(shape.size, size);
    for (std::size_t slot = 0; slot < shape.slots(); ++slot)
      ASSERT_EQ(shape.slot_at(slot * size), slot) << size;
  }
  const slab_shape largest = slab_shape::of<slab_form<>>(slab_shape::largest_size, 8, lost);
  for (std::size_t slot = 0; slot < largest.slots(); ++slot)
    ASSERT_EQ(largest.slot_at(slot * largest.size), slot);
}

TEST(SlabShape, RoundsSizesToWhatHoldsALinkAndToTheAlignment) {
  EXPECT_EQ(slab_shape::of<slab_form<>>(0, 1, lost).size, 8u);
  EXPECT_EQ(slab_shape::of<slab_form<>>(40, 64, lost).size, 64u);
}

TEST(SlabShape, IsNoneWhereThereCannotBeSuchBlocks) {
  for (const std::size_t size : {slab_shape::largest_size + 1, SIZE_MAX - 8, SIZE_MAX})
    EXPECT_EQ(slab_shape::of<slab_form<>>(size, 8, lost).size, 0u);
  EXPECT_EQ(slab_shape::of<slab_form<>>(8, std::size_t{1} << 62, lost).size, 0u);
}

TEST(SlabShape, HasFewBlocksWhereTheyAreLarge) {
  EXPECT_LE(slab_shape::of<slab_form<>>(5000, 8, lost).bytes(), 65536u);
  EXPECT_LE(slab_shape::of<slab_form<>>(100000, 8, lost).bytes(), 2u << 20);
}

TEST(SlabShape, DividesASlabIntoPiecesThatLoseNoMoreThanTheOverhead) {
  for (const std::size_t size : {16u, 24u, 40u, 48u, 120u}) {
    const slab_shape shape = slab_shape::of<slab_form<256, 2, 2>>(size, 8, lost);
    const slab_shape whole = slab_shape::of<slab_form<>>(size, 8, lost);
    EXPECT_LT(shape.piece(), whole.piece()) << "what pieces are for: less alignment, " << size;
    EXPECT_GT(shape.pieces, 1u);
    const std::size_t used = (shape.slots() - 2) * size;
    EXPECT_LE((shape.piece() - used - size) * 100, 2 * shape.piece()) << size;
  }
}

TEST(SlabShape, PutsTheHeadersOfNeighboursElsewhere) {
  const slab_shape shape = slab_shape::of<slab_form<>>(24, 8, lost);
  std::set<std::size_t> places;
  for (std::uintptr_t begin = 0; begin < 32 * shape.piece(); begin += shape.piece())
    places.insert(shape.colour_at(begin));
  EXPECT_EQ(places.size(), 32u);
  EXPECT_LT(*places.rbegin(), 4096u);
}

}  // namespace
}  // namespace mallard
