#include "mallard/heap/best_fit/grow_in_place.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/tagged_region.hpp"

namespace mallard {
namespace {

// [ before, 512 ][ block, 128 ][ behind, 512 ][ used ][ rest ]
class GrowInPlace : public testing::Test {
 protected:
  GrowInPlace() {
    blocks_.adopt(region_.first());
    before_ = blocks_.carve(512);
    block_ = blocks_.carve(128);
    behind_ = blocks_.carve(512);
    static_cast<void>(blocks_.carve(32));
  }
  ~GrowInPlace() override {
    EXPECT_FALSE(blocks_.validate([](const boundary_tag*) { return violation{}; }));
  }
  GrowInPlace(const GrowInPlace&) = delete;
  GrowInPlace& operator=(const GrowInPlace&) = delete;

  void free_before() { EXPECT_TRUE(blocks_.give_small(before_)); }
  void free_behind() { EXPECT_TRUE(blocks_.give_small(behind_)); }

  [[nodiscard]] std::ptrdiff_t moved(boundary_tag* to) const { return block_->bytes() - to->bytes(); }

  tagged_region<8192> region_;
  joined_blocks blocks_;
  boundary_tag* before_;
  boundary_tag* block_;
  boundary_tag* behind_;
};

TEST_F(GrowInPlace, NothingIsTakenFromUsedNeighbours) {
  EXPECT_FALSE(grow_forward(blocks_, block_, 144, 256));
  EXPECT_EQ(grow_backward(blocks_, block_, 144, 256, 16, true), nullptr);
  EXPECT_TRUE(grow_forward(blocks_, block_, 128, 256)) << "the limit is what it has";
  EXPECT_EQ(block_->size(), 128u);
}

TEST_F(GrowInPlace, ForwardToWhatIsPreferred) {
  free_behind();
  EXPECT_TRUE(grow_forward(blocks_, block_, 144, 256));
  EXPECT_EQ(block_->size(), 256u);
  EXPECT_EQ(blocks_.at_least(32), block_->at(256));
}

TEST_F(GrowInPlace, ForwardToAllThereIs) {
  free_behind();
  EXPECT_FALSE(grow_forward(blocks_, block_, 656, 2000));
  EXPECT_EQ(block_->size(), 128u);
  EXPECT_TRUE(grow_forward(blocks_, block_, 640, 2000));
  EXPECT_EQ(block_->size(), 640u);
}

TEST_F(GrowInPlace, BackwardByMultiplesOfTheStep) {
  free_before();
  boundary_tag* const grown = grow_backward(blocks_, block_, 144, 256, 24, false);
  ASSERT_NE(grown, nullptr);
  EXPECT_EQ(moved(grown), 144) << "of 24 and 16";
  EXPECT_EQ(grown->size(), 272u);
}

TEST_F(GrowInPlace, BackwardToAllThereIs) {
  free_before();
  boundary_tag* const grown = grow_backward(blocks_, block_, 600, 2000, 48, false);
  ASSERT_NE(grown, nullptr);
  EXPECT_EQ(moved(grown), 480);
  EXPECT_EQ(grown->size(), 608u);
}

TEST_F(GrowInPlace, BackwardLeavesNoPieceThatIsNoBlock) {
  free_before();
  boundary_tag* const grown = grow_backward(blocks_, block_, 144, 128 + 496, 16, false);
  ASSERT_NE(grown, nullptr);
  EXPECT_EQ(moved(grown), 512);
}

TEST_F(GrowInPlace, BackwardNotByLessThanAStep) {
  free_before();
  EXPECT_EQ(grow_backward(blocks_, block_, 144, 256, 1024, false), nullptr);
  EXPECT_EQ(grow_backward(blocks_, block_, 144, 256, SIZE_MAX - 15, false), nullptr);
  EXPECT_EQ(grow_backward(blocks_, block_, 128, 256, 1024, false), block_) << "the limit is what it has";
}

TEST_F(GrowInPlace, BackwardWithWhatIsBehind) {
  free_before();
  free_behind();
  boundary_tag* const grown = grow_backward(blocks_, block_, 1000, 1008, 16, true);
  ASSERT_NE(grown, nullptr);
  EXPECT_EQ(moved(grown), 368);
  EXPECT_EQ(grown->size(), 1008u);
  EXPECT_EQ(grow_backward(blocks_, grown, 1200, 2000, 16, true), nullptr) << "more than there is";
}

TEST_F(GrowInPlace, WhatTheBlockHadStaysItsOwn) {
  free_before();
  free_behind();
  boundary_tag* const grown = grow_backward(blocks_, block_, 656, 656, 512, true);
  ASSERT_NE(grown, nullptr);
  EXPECT_EQ(moved(grown), 512);
  EXPECT_EQ(grown->size(), 656u);
  EXPECT_EQ(grown->at(656), block_->at(144));
}

TEST(Multiples, AreThoseOfBoth) {
  for (std::size_t granule : {1u, 16u, 64u})
    for (std::size_t step = 1; step <= 200; ++step) {
      const multiples of(step, granule);
      const std::size_t common = std::lcm(step, granule);
      EXPECT_EQ(of.least(), common);
      for (std::size_t bytes :
           {std::size_t{0}, std::size_t{1}, common - 1, common, common + 1, std::size_t{10007}}) {
        EXPECT_EQ(of.down(bytes), bytes / common * common) << step << " and " << granule;
        EXPECT_EQ(of.up(bytes), (bytes + common - 1) / common * common) << step << " and " << granule;
      }
    }
}

TEST(Multiples, OfLargeObjects) {
  EXPECT_EQ(multiples(4096, 16).down(10000), 8192u);
  EXPECT_EQ(multiples(4098, 16).least(), 4098u * 8);
  EXPECT_EQ(multiples(24 * 1001, 16).up(1), 48048u);
}

}  // namespace
}  // namespace mallard
