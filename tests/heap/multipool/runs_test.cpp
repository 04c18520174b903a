#include "mallard/heap/multipool/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "mallard/core/align.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

using growth = proportional<256, 256, 4, 1024>;

// Blocks that are carved one by one: two of them are more than a batch. Five are a run.
constexpr std::size_t large = 624;
static_assert(2 * large > runs::batch_bytes);
using growth_of_large = constant<5 * large>;

class Runs : public testing::Test {
 protected:
  void* carve() {
    void* const freed = freed_.pop();
    return freed != nullptr ? freed : runs_.carve<growth>(shared_, 48, 16, freed_);
  }
  std::byte* carve_large() {
    return static_cast<std::byte*>(runs_.carve<growth_of_large>(shared_, large, 16, freed_));
  }

  alignas(64) std::byte bytes_[16384];
  intrusive_stack freed_;
  shared_chunks<fixed_buffer, doubling<4096, 4096>> shared_{bytes_, sizeof bytes_};
  runs runs_;
};

TEST_F(Runs, BlocksAreAlignedAndDoNotOverlap) {
  std::set<std::uintptr_t> starts;
  for (int i = 0; i < 200; ++i) {
    void* const p = carve();
    ASSERT_NE(p, nullptr);
    EXPECT_TRUE(is_aligned(p, 16));
    starts.insert(address_of(p));
  }
  EXPECT_EQ(starts.size(), 200u);
  for (auto i = std::next(starts.begin()); i != starts.end(); ++i) EXPECT_GE(*i - *std::prev(i), 48u);
  EXPECT_EQ(runs_.carved(48), 200 + freed_.count());
  EXPECT_FALSE(runs_.validate(shared_.chunk_ranges(), 48, 16));
}

TEST_F(Runs, MemoryBehindABatchStaysUntouched) {
  std::memset(bytes_, 0x5A, sizeof bytes_);
  shared_chunks<fixed_buffer, doubling<8192, 8192>> fresh(bytes_, sizeof bytes_);
  std::byte* const carved = static_cast<std::byte*>(runs_.carve<constant<4096>>(fresh, 48, 16, freed_));
  for (std::byte* p = carved + runs::batch_bytes; p != carved + 4096; ++p) ASSERT_EQ(*p, std::byte{0x5A});
}

TEST_F(Runs, CarveABatchAtOnceLowestFirst) {
  std::byte* next = nullptr;
  std::vector<std::size_t> batches;
  for (std::size_t before = 0; before < 3 * runs::batch_bytes / 48; before = runs_.carved(48)) {
    auto* const first = static_cast<std::byte*>(runs_.carve<constant<4096>>(shared_, 48, 16, freed_));
    if (next != nullptr) {
      EXPECT_EQ(first, next);
    }
    batches.push_back(runs_.carved(48) - before);
    EXPECT_EQ(freed_.count(), batches.back() - 1);
    for (next = first + 48; !freed_.empty(); next += 48) EXPECT_EQ(freed_.pop(), next);
  }
  EXPECT_EQ(batches.front(), 4u);
  EXPECT_TRUE(std::ranges::is_sorted(batches));
  EXPECT_EQ(batches.back(), runs::batch_bytes / 48);
}

TEST_F(Runs, TakeTheRestOfABatchBack) {
  auto* const first = static_cast<std::byte*>(carve());
  auto* const second = static_cast<std::byte*>(carve());
  runs_.uncarve(48, freed_);
  EXPECT_TRUE(freed_.empty());
  EXPECT_EQ(runs_.carved(48), 2u);
  EXPECT_EQ((runs_.carve_adjacent<growth>(shared_, 48, 16, 3, freed_)), second + 48);
  EXPECT_FALSE(runs_.validate(shared_.chunk_ranges(), 48, 16));
  freed_.push(first);
  runs_.uncarve(48, freed_);
  EXPECT_EQ(freed_.pop(), first) << "what lies before blocks in use was taken back";
}

TEST_F(Runs, TakeNoBatchBackThatOtherFreedBlocksLieUnder) {
  intrusive_stack freed;
  freed.push(carve());
  while (!freed_.empty()) freed.push(freed_.pop());
  const std::size_t blocks = freed.count();
  runs_.uncarve(48, freed);  // its top is the last block in front of the cursor
  EXPECT_EQ(freed.count(), blocks);
}

TEST_F(Runs, CarveNoMoreAtOnceThanARunHas) {
  for (std::size_t i = 0; i < 256 / 48; ++i) (void)carve();
  EXPECT_TRUE(freed_.empty());
  EXPECT_EQ(runs_.carved(48), 256u / 48);
  EXPECT_FALSE(runs_.validate(shared_.chunk_ranges(), 48, 16));
}

TEST_F(Runs, KnowWhereCarvedBlocksBegin) {
  std::byte* const first = carve_large();
  EXPECT_TRUE(runs_.carved_ranges().contains(first, large));
  EXPECT_FALSE(runs_.carved_ranges().contains(first + 16, large));
  EXPECT_FALSE(runs_.carved_ranges().contains(first + large, large));  // not carved yet
  EXPECT_EQ(carve_large(), first + large);
  EXPECT_TRUE(runs_.carved_ranges().contains(first + large, large));
  EXPECT_FALSE(runs_.carved_ranges().contains(this, large));
}

TEST_F(Runs, AreFullyCarvedBeforeTheNextAndThenEnd) {
  std::size_t blocks = 0;
  while (carve() != nullptr) ++blocks;
  EXPECT_EQ(runs_.carved(48), blocks);
  EXPECT_GT(blocks * 48, sizeof bytes_ * 9 / 10);
  EXPECT_FALSE(runs_.validate(shared_.chunk_ranges(), 48, 16));
  EXPECT_EQ(carve(), nullptr);
}

TEST_F(Runs, AdjacentBlocksTakeANewRunWhereTheOldOneIsTooShort) {
  std::byte* const first = carve_large();
  EXPECT_EQ((runs_.carve_adjacent<growth_of_large>(shared_, large, 16, 2, freed_)), first + large);
  EXPECT_TRUE(freed_.empty());
  std::byte* const six = runs_.carve_adjacent<growth_of_large>(shared_, large, 16, 6, freed_);
  ASSERT_NE(six, nullptr);
  EXPECT_EQ(freed_.pop(), first + 4 * large);
  EXPECT_EQ(freed_.pop(), first + 3 * large);
  EXPECT_TRUE(freed_.empty());
  EXPECT_EQ(runs_.carved(large), 11u);
  EXPECT_TRUE(runs_.carved_ranges().contains(six + 5 * large, large));
  EXPECT_FALSE(runs_.validate(shared_.chunk_ranges(), large, 16));
}

TEST_F(Runs, AdjacentBlocksThatCannotBeHadChangeNothing) {
  std::byte* const first = carve_large();
  EXPECT_EQ((runs_.carve_adjacent<growth_of_large>(shared_, large, 16, 1000, freed_)), nullptr);
  EXPECT_TRUE(freed_.empty());
  EXPECT_EQ(carve_large(), first + large);
}

TEST_F(Runs, AWrongSizeOrAlignmentIsReported) {
  const std::uintptr_t first = address_of(carve());
  EXPECT_TRUE(runs_.validate(shared_.chunk_ranges(), 47, 16));
  EXPECT_TRUE(runs_.validate(shared_.chunk_ranges(), 48, 2 * (first & (~first + 1))));
}

TEST_F(Runs, AnOverwrittenHeaderIsReported) {
  std::byte* const first = static_cast<std::byte*>(carve());
  std::memset(first - 8, 0xFF, 8);
  EXPECT_TRUE(runs_.validate(shared_.chunk_ranges(), 48, 16));
}

class Singles : public testing::Test {
 protected:
  alignas(64) std::byte bytes_[4096];
  shared_chunks<fixed_buffer, doubling<4096, 4096>> shared_{bytes_, sizeof bytes_};
  singles a_;
  singles b_;
};

TEST_F(Singles, OfDifferentSizesFollowEachOther) {
  auto* const first = static_cast<std::byte*>(a_.carve_slow(shared_, 192, 64));
  EXPECT_TRUE(is_aligned(first, 64));
  EXPECT_EQ(b_.carve(shared_, 144, 16), first + 192);
  EXPECT_EQ(b_.carve(shared_, 144, 16), first + 336);
  EXPECT_EQ(a_.carve(shared_, 192, 64), first + 512);
  EXPECT_EQ(a_.carved(), 2u);
  EXPECT_EQ(b_.carved(), 2u);
}

TEST_F(Singles, ManyAtOnceAreAdjacent) {
  auto* const first = static_cast<std::byte*>(a_.carve_slow(shared_, 192, 64));
  EXPECT_EQ(a_.carve_adjacent(shared_, 192, 64, 5), first + 192);
  EXPECT_EQ(a_.carved(), 6u);
  EXPECT_EQ(b_.carve(shared_, 144, 16), first + 6 * 192);
}

TEST_F(Singles, ThatCannotBeHadAreNotCounted) {
  EXPECT_EQ(a_.carve(shared_, 192, 64), nullptr) << "there was no last one";
  (void)a_.carve_slow(shared_, 192, 64);
  EXPECT_EQ(a_.carve_adjacent(shared_, 192, 64, 30), nullptr);
  EXPECT_EQ(a_.carve(shared_, 8192, 64), nullptr);
  EXPECT_EQ(a_.carve_slow(shared_, 8192, 64), nullptr);
  EXPECT_EQ(a_.carved(), 1u);
  EXPECT_NE(a_.carve(shared_, 192, 64), nullptr);
}

}  // namespace
}  // namespace mallard
