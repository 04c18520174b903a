#include "mallard/thread/thread_cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace mallard {
namespace {

struct block_of_16 {
  std::array<void*, 2> words;
};

class ThreadCache : public testing::Test {
 protected:
  static constexpr std::int32_t most = 4;

  // As a heap frees: what leaves is counted.
  void free_one(void* p) {
    if (cache_.push(1, p)) return;
    if (const batch leaving = cache_.make_room(1, most)) {
      EXPECT_EQ(leaving.count, 4u);
      left_ += leaving.count;
    }
    ASSERT_TRUE(cache_.push(1, p));
  }

  [[nodiscard]] violation validate() const {
    return cache_.validate(1, [](const void*) { return true; });
  }

  thread_cache<2> cache_;
  std::array<block_of_16, 40> blocks_{};
  std::size_t left_ = 0;
};

TEST_F(ThreadCache, HasNothingAndTakesNothingBeforeItKnowsHowMuch) {
  EXPECT_EQ(cache_.pop(1), nullptr);
  EXPECT_FALSE(cache_.push(1, &blocks_[0]));
  EXPECT_EQ(cache_.take(1), nullptr);
  EXPECT_EQ(cache_.count(1), 0u);
  EXPECT_FALSE(validate());
}

TEST_F(ThreadCache, WhatWasFreedLastIsTakenFirst) {
  for (std::size_t i = 0; i < 8; ++i) free_one(&blocks_[i]);
  EXPECT_EQ(cache_.count(1), 8u);
  for (std::size_t i = 8; i-- > 0;) EXPECT_EQ(cache_.take(1), &blocks_[i]);
  EXPECT_EQ(cache_.take(1), nullptr);
  EXPECT_EQ(left_, 0u);
}

TEST_F(ThreadCache, KeepsTwoBatchesAndLetsWholeOnesLeave) {
  for (std::size_t i = 0; i < 40; ++i) {
    free_one(&blocks_[i]);
    EXPECT_LE(cache_.count(1), 8u);
    EXPECT_EQ(cache_.count(1) + left_, i + 1);
    ASSERT_FALSE(validate());
  }
}

TEST_F(ThreadCache, PairsAroundALimitMoveNothing) {
  for (std::size_t filled = 0; filled < 12; ++filled) {
    free_one(&blocks_[filled]);
    const std::size_t before = left_;
    for (int turn = 0; turn < 20; ++turn) {
      void* const a = cache_.take(1);
      void* const b = filled > 0 ? cache_.take(1) : nullptr;
      if (b != nullptr) free_one(b);
      free_one(a);
    }
    EXPECT_LE(left_ - before, 4u) << "with " << filled + 1 << " blocks freed";
  }
}

TEST_F(ThreadCache, ARefillIsTakenInItsOrder) {
  for (std::size_t i = 0; i < 3; ++i) ::new (&blocks_[i]) chain::node{nullptr};
  auto* const first = ::new (&blocks_[0]) chain::node{reinterpret_cast<chain::node*>(&blocks_[1])};
  cache_.refill(1, {first, 2}, most);
  EXPECT_EQ(cache_.count(1), 2u);
  EXPECT_EQ(cache_.count(0), 0u) << "lists are apart";
  EXPECT_FALSE(validate());
  EXPECT_EQ(cache_.pop(1), &blocks_[0]);
  EXPECT_EQ(cache_.pop(1), &blocks_[1]);
  EXPECT_EQ(cache_.pop(1), nullptr);
}

TEST_F(ThreadCache, AsksForTwiceAsManyNewBlocksEachTime) {
  std::vector<std::int32_t> wished;
  for (int i = 0; i < 5; ++i) wished.push_back(cache_.wish(0, 1, 6));
  EXPECT_EQ(wished, (std::vector<std::int32_t>{1, 2, 4, 6, 6}));
  EXPECT_EQ(cache_.wish(1, 4, 32), 4) << "the least at first";
  EXPECT_EQ(cache_.wish(1, 4, 32), 8);
}

TEST_F(ThreadCache, DrainingGivesEachBlockOnceAndBeginsAnew) {
  for (std::size_t i = 0; i < 7; ++i) free_one(&blocks_[i]);
  std::set<const void*> given;
  cache_.drain([&](std::size_t list, batch b) {
    EXPECT_EQ(list, 1u);
    std::size_t length = 0;
    for (const void* p = b.first; p != nullptr; p = chain::next(p), ++length) given.insert(p);
    EXPECT_EQ(length, b.count);
  });
  EXPECT_EQ(given.size(), 7u);
  EXPECT_EQ(cache_.count(1), 0u);
  EXPECT_EQ(cache_.take(1), nullptr);
  free_one(&blocks_[0]);
  EXPECT_EQ(cache_.take(1), &blocks_[0]);
}

TEST_F(ThreadCache, ValidateSeesALostBlockACircleAndAForeignOne) {
  for (std::size_t i = 0; i < 3; ++i) free_one(&blocks_[i]);
  EXPECT_FALSE(validate());
  EXPECT_TRUE(cache_.validate(1, [this](const void* p) { return p != &blocks_[1]; }));
  ::new (&blocks_[1]) chain::node{nullptr};
  EXPECT_TRUE(validate());
  ::new (&blocks_[1]) chain::node{reinterpret_cast<chain::node*>(&blocks_[2])};
  EXPECT_TRUE(validate());
}

}  // namespace
}  // namespace mallard
