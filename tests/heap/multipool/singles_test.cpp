#include "mallard/heap/multipool/singles.hpp"

#include <gtest/gtest.h>

#include "mallard/core/align.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

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
