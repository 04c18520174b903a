#include "mallard/layer/bump.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

class Bump : public testing::Test {
 protected:
  void* take(std::size_t size, std::size_t align) {
    void* p = nullptr;
    return bump_.take(size, align, p) ? p : nullptr;
  }

  alignas(64) std::byte bytes_[256];
  bump bump_{bytes_, bytes_ + sizeof bytes_};
};

TEST_F(Bump, BlocksFollowEachOtherWithoutGaps) {
  EXPECT_EQ(take(3, 1), bytes_);
  EXPECT_EQ(take(5, 1), bytes_ + 3);
  EXPECT_EQ(take(1, 1), bytes_ + 8);
  EXPECT_EQ(bump_.room(), 256u - 9u);
}

TEST_F(Bump, PaddingIsOnlyWhatTheAlignmentAsksFor) {
  EXPECT_EQ(take(1, 1), bytes_);
  EXPECT_EQ(take(1, 2), bytes_ + 2);
  EXPECT_EQ(take(1, 64), bytes_ + 64);
}

TEST_F(Bump, TheLastByteCanBeTakenAndNoFurther) {
  EXPECT_EQ(take(256, 64), bytes_);
  EXPECT_EQ(take(1, 1), nullptr);
  EXPECT_EQ(bump_.room(), 0u);
}

TEST_F(Bump, WhatDoesNotFitChangesNothing) {
  EXPECT_EQ(take(200, 1), bytes_);
  EXPECT_EQ(take(57, 1), nullptr);
  EXPECT_EQ(take(1, 64), nullptr);
  EXPECT_EQ(take(static_cast<std::size_t>(-1), 1), nullptr);
  EXPECT_EQ(take(max_request, 64), nullptr);
  EXPECT_EQ(take(1, std::size_t{1} << 63), nullptr);
  EXPECT_EQ(take(56, 1), bytes_ + 200);
}

TEST_F(Bump, AnEmptyOneHasRoomForNothing) {
  bump_ = {};
  EXPECT_EQ(take(1, 1), nullptr);
  EXPECT_EQ(take(1, std::size_t{1} << 63), nullptr);
  EXPECT_EQ(bump_.room(), 0u);
}

TEST_F(Bump, OnlyTheTopBlockCanBeResized) {
  void* const below = take(16, 1);
  void* const top = take(16, 1);
  EXPECT_FALSE(bump_.is_top(below, 16));
  EXPECT_TRUE(bump_.is_top(top, 16));
  EXPECT_FALSE(bump_.is_top(top, 15));
  bump_.resize_top(top, 240);
  EXPECT_EQ(bump_.room(), 0u);
  bump_.resize_top(top, 1);
  EXPECT_EQ(take(1, 1), bytes_ + 17);
}

TEST_F(Bump, RewindTakesTheSameMemoryAgain) {
  EXPECT_EQ(take(10, 1), bytes_);
  std::byte* const place = bump_.cursor();
  EXPECT_EQ(take(100, 1), bytes_ + 10);
  bump_.rewind(place);
  EXPECT_EQ(take(100, 1), bytes_ + 10);
}

}  // namespace
}  // namespace mallard
