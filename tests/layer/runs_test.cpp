#include "mallard/layer/runs.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "mallard/layer/growth.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

using growth = proportional<256, 256, 4, 1024>;

class Runs : public testing::Test {
 protected:
  void* carve() { return runs_.carve<growth>(slabs_, 48, 16); }

  alignas(64) std::byte bytes_[16384];
  slabs<fixed_buffer, doubling<4096, 4096>> slabs_{bytes_, sizeof bytes_};
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
  EXPECT_EQ(runs_.carved(48), 200u);
  EXPECT_FALSE(runs_.validate(slabs_.chunk_ranges(), 48, 16));
}

TEST_F(Runs, MemoryBehindTheLastBlockStaysUntouched) {
  std::memset(bytes_, 0x5A, sizeof bytes_);
  slabs<fixed_buffer, doubling<4096, 4096>> fresh(bytes_, sizeof bytes_);
  std::byte* const carved = static_cast<std::byte*>(runs_.carve<growth>(fresh, 48, 16));
  for (std::byte* p = carved; p != carved + 1024; ++p) ASSERT_EQ(*p, std::byte{0x5A});
}

TEST_F(Runs, KnowWhereCarvedBlocksBegin) {
  std::byte* const first = static_cast<std::byte*>(carve());
  EXPECT_TRUE(runs_.carved_ranges().contains(first, 48));
  EXPECT_FALSE(runs_.carved_ranges().contains(first + 16, 48));
  EXPECT_FALSE(runs_.carved_ranges().contains(first + 48, 48));  // not carved yet
  EXPECT_EQ(carve(), first + 48);
  EXPECT_TRUE(runs_.carved_ranges().contains(first + 48, 48));
  EXPECT_FALSE(runs_.carved_ranges().contains(this, 48));
}

TEST_F(Runs, AreFullyCarvedBeforeTheNextAndThenEnd) {
  std::size_t blocks = 0;
  while (carve() != nullptr) ++blocks;
  EXPECT_EQ(runs_.carved(48), blocks);
  EXPECT_GT(blocks * 48, sizeof bytes_ * 9 / 10);
  EXPECT_FALSE(runs_.validate(slabs_.chunk_ranges(), 48, 16));
  EXPECT_EQ(carve(), nullptr);
}

TEST_F(Runs, AdjacentBlocksTakeANewRunWhereTheOldOneIsTooShort) {
  intrusive_stack freed;
  auto* const first = static_cast<std::byte*>(carve());  // of 256 bytes: five blocks
  EXPECT_EQ((runs_.carve_adjacent<growth>(slabs_, 48, 16, 2, freed)), first + 48);
  EXPECT_TRUE(freed.empty());
  std::byte* const forty = runs_.carve_adjacent<growth>(slabs_, 48, 16, 40, freed);
  ASSERT_NE(forty, nullptr);
  EXPECT_EQ(freed.pop(), first + 4 * 48);
  EXPECT_EQ(freed.pop(), first + 3 * 48);
  EXPECT_TRUE(freed.empty());
  EXPECT_EQ(runs_.carved(48), 45u);
  EXPECT_TRUE(runs_.carved_ranges().contains(forty + 39 * 48, 48));
  EXPECT_FALSE(runs_.validate(slabs_.chunk_ranges(), 48, 16));
}

TEST_F(Runs, AdjacentBlocksThatCannotBeHadChangeNothing) {
  intrusive_stack freed;
  void* const first = carve();
  EXPECT_EQ((runs_.carve_adjacent<growth>(slabs_, 48, 16, 1000, freed)), nullptr);
  EXPECT_TRUE(freed.empty());
  EXPECT_EQ(carve(), static_cast<std::byte*>(first) + 48);
}

TEST_F(Runs, AWrongSizeOrAlignmentIsReported) {
  const std::uintptr_t first = address_of(carve());
  EXPECT_TRUE(runs_.validate(slabs_.chunk_ranges(), 47, 16));
  EXPECT_TRUE(runs_.validate(slabs_.chunk_ranges(), 48, 2 * (first & (~first + 1))));
}

TEST_F(Runs, AnOverwrittenHeaderIsReported) {
  std::byte* const first = static_cast<std::byte*>(carve());
  std::memset(first - 8, 0xFF, 8);
  EXPECT_TRUE(runs_.validate(slabs_.chunk_ranges(), 48, 16));
}

}  // namespace
}  // namespace mallard
