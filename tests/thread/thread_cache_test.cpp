#include "mallard/thread/thread_cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mallard/core/align.hpp"

namespace mallard {
namespace {

class ThreadCache : public testing::Test {
 protected:
  using cache = thread_cache<2>;
  static constexpr std::size_t most = 4;

  void open() { cache_.open(1, memory_.data(), most); }
  void* block(std::size_t i) { return &blocks_[i]; }

  // As a heap frees: what leaves is counted.
  void free_one(void* p) {
    if (cache_.push(1, p)) return;
    const std::span<const magazine::slot> leaving = cache_.oldest(1);
    EXPECT_EQ(leaving.size(), most);
    left_.insert(left_.end(), leaving.begin(), leaving.end());
    cache_.drop_oldest(1);
    ASSERT_TRUE(cache_.push(1, p));
  }

  [[nodiscard]] violation validate() const {
    return cache_.validate(1, [](const void*) { return true; });
  }

  std::array<magazine::slot, cache::bytes_of(most) / sizeof(magazine::slot)> memory_{};
  cache cache_;
  std::array<long, 40> blocks_{};
  std::vector<magazine::slot> left_;
};

TEST_F(ThreadCache, HasNothingAndTakesNothingBeforeItIsOpened) {
  EXPECT_FALSE(cache_.is_open(1));
  EXPECT_EQ(cache_.pop(1), nullptr);
  EXPECT_FALSE(cache_.push(1, block(0)));
  EXPECT_EQ(cache_.count(1), 0u);
  EXPECT_FALSE(validate());
  open();
  EXPECT_TRUE(cache_.is_open(1));
  EXPECT_FALSE(cache_.is_open(0)) << "lists are apart";
  EXPECT_FALSE(validate());
}

TEST_F(ThreadCache, WhatWasFreedLastIsTakenFirst) {
  open();
  for (std::size_t i = 0; i < 2 * most; ++i) free_one(block(i));
  EXPECT_EQ(cache_.count(1), 2 * most);
  for (std::size_t i = 2 * most; i-- > 0;) EXPECT_EQ(cache_.pop(1), block(i));
  EXPECT_EQ(cache_.pop(1), nullptr);
  EXPECT_TRUE(left_.empty());
}

TEST_F(ThreadCache, KeepsTwoBatchesAndLetsTheOldestLeave) {
  open();
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    free_one(block(i));
    EXPECT_LE(cache_.count(1), 2 * most);
    EXPECT_EQ(cache_.count(1) + left_.size(), i + 1);
    ASSERT_FALSE(validate());
  }
  for (std::size_t i = 0; i < left_.size(); ++i) EXPECT_EQ(left_[i], address_of(block(i)));
}

TEST_F(ThreadCache, PairsAroundALimitMoveNothing) {
  open();
  for (std::size_t filled = 0; filled < 12; ++filled) {
    free_one(block(filled));
    const std::size_t before = left_.size();
    for (int turn = 0; turn < 20; ++turn) {
      void* const a = cache_.pop(1);
      void* const b = filled > 0 ? cache_.pop(1) : nullptr;
      if (b != nullptr) free_one(b);
      free_one(a);
    }
    EXPECT_LE(left_.size() - before, most) << "with " << filled + 1 << " blocks freed";
  }
}

TEST_F(ThreadCache, ARefillIsTakenFromItsEnd) {
  open();
  magazine::slot* const end = cache_.refill_end(1);
  end[-1] = address_of(block(0));
  end[-2] = address_of(block(1));
  cache_.refill(1, 2);
  EXPECT_EQ(cache_.count(1), 2u);
  EXPECT_FALSE(validate());
  EXPECT_EQ(cache_.pop(1), block(0));
  EXPECT_EQ(cache_.pop(1), block(1));
  EXPECT_EQ(cache_.pop(1), nullptr);
  cache_.refill(1, 0);
  EXPECT_EQ(cache_.pop(1), nullptr);
}

TEST_F(ThreadCache, ALongerMagazineTakesOverTheBlocks) {
  open();
  for (std::size_t i = 0; i < 5; ++i) free_one(block(i));
  std::array<magazine::slot, cache::bytes_of(2 * most) / sizeof(magazine::slot)> longer{};
  cache_.open(1, longer.data(), 2 * most);
  EXPECT_EQ(cache_.batch_of(1), 2 * most);
  for (std::size_t i = 5; i < 4 * most; ++i) EXPECT_TRUE(cache_.push(1, block(i)));
  EXPECT_FALSE(cache_.push(1, block(4 * most)));
  EXPECT_FALSE(validate());
  for (std::size_t i = 4 * most; i-- > 0;) EXPECT_EQ(cache_.pop(1), block(i));
  EXPECT_EQ(cache_.pop(1), nullptr);
}

TEST_F(ThreadCache, AsksForTwiceAsManyNewBlocksEachTime) {
  std::vector<std::size_t> wished;
  for (int i = 0; i < 5; ++i) wished.push_back(cache_.wish(0, 1, 6));
  EXPECT_EQ(wished, (std::vector<std::size_t>{1, 2, 4, 6, 6}));
  EXPECT_EQ(cache_.wish(1, 4, 32), 4u) << "the least at first";
  EXPECT_EQ(cache_.wish(1, 4, 32), 8u);
}

TEST_F(ThreadCache, DrainingGivesEachBlockOnceInBatchesAndBeginsAnew) {
  open();
  (void)cache_.wish(1, 4, 32);
  for (std::size_t i = 0; i < 2 * most - 1; ++i) free_one(block(i));
  std::set<magazine::slot> given;
  cache_.drain([&](std::size_t list, std::span<const magazine::slot> blocks) {
    EXPECT_EQ(list, 1u);
    EXPECT_LE(blocks.size(), most);
    given.insert(blocks.begin(), blocks.end());
  });
  EXPECT_EQ(given.size(), 2 * most - 1);
  EXPECT_EQ(cache_.count(1), 0u);
  EXPECT_EQ(cache_.pop(1), nullptr);
  EXPECT_EQ(cache_.wish(1, 4, 32), 4u);
  free_one(block(0));
  EXPECT_EQ(cache_.pop(1), block(0));
}

TEST_F(ThreadCache, OneThatOnlyFreesKeepsABatchUntilItIsEmpty) {
  open();
  const auto free_many = [this](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      const std::size_t before = left_.size();
      free_one(block(i));
      if (left_.size() == before) continue;
      void* const newest = cache_.pop(1);
      if (cache_.narrow_if_only_freed(1)) {
        left_.insert(left_.end(), cache_.oldest(1).begin(), cache_.oldest(1).end());
        cache_.drop_oldest(1);
      }
      ASSERT_TRUE(cache_.push(1, newest));
      ASSERT_FALSE(validate());
    }
  };
  free_many(0, 2 * most + 1);
  EXPECT_EQ(cache_.count(1), most + 1) << "full once: half of it stays";
  free_many(2 * most + 1, 15);
  EXPECT_EQ(left_.size() + cache_.count(1), 2 * most + 16);
  EXPECT_LE(cache_.count(1), most);
  while (cache_.pop(1) != nullptr) {
  }
  cache_.refill(1, 0);
  left_.clear();
  free_many(30, 2 * most);
  EXPECT_EQ(cache_.count(1), 2 * most) << "as at the beginning";
  EXPECT_TRUE(left_.empty());
}

TEST_F(ThreadCache, SiftingGivesEachBlockThatDoesNotStayOnce) {
  open();
  for (std::size_t i = 0; i < 2 * most; ++i) free_one(block(i));
  const auto stays = [this](magazine::slot b) {
    return b == address_of(block(1)) || b == address_of(block(6));
  };
  std::set<magazine::slot> given;
  cache_.sift(stays, [&](std::size_t list, std::span<const magazine::slot> blocks) {
    EXPECT_EQ(list, 1u);
    EXPECT_LE(blocks.size(), most);
    given.insert(blocks.begin(), blocks.end());
  });
  EXPECT_EQ(given.size(), 2 * most - 2);
  EXPECT_FALSE(validate());
  const std::set<void*> left{cache_.pop(1), cache_.pop(1), cache_.pop(1)};
  EXPECT_EQ(left, (std::set<void*>{block(1), block(6), nullptr}));
}

TEST_F(ThreadCache, ForgettingLeavesMagazinesOpenAndEmpty) {
  open();
  for (std::size_t i = 0; i < 3; ++i) free_one(block(i));
  cache_.forget();
  EXPECT_EQ(cache_.count(1), 0u);
  EXPECT_TRUE(cache_.is_open(1));
  EXPECT_FALSE(validate());
}

TEST_F(ThreadCache, ValidateSeesAForeignBlockAndWritesIntoAMagazine) {
  open();
  for (std::size_t i = 0; i < 3; ++i) free_one(block(i));
  EXPECT_FALSE(validate());
  EXPECT_TRUE(cache_.validate(1, [this](const void* p) { return p != block(1); }));
  for (const std::size_t overwritten : {std::size_t{0}, std::size_t{2}, memory_.size() - 1}) {
    const magazine::slot before = std::exchange(memory_[overwritten], overwritten == 2 ? 0 : 2);
    EXPECT_TRUE(validate()) << overwritten;
    memory_[overwritten] = before;
  }
  EXPECT_FALSE(validate());
}

}  // namespace
}  // namespace mallard
