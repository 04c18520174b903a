#include "mallard/layer/slabs.hpp"

#include <gtest/gtest.h>

#include "mallard/source/borrowed.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"

namespace mallard {
namespace {

using source = counting<memory_resource_source>;

class Slabs : public testing::Test {
 protected:
  void* take(std::size_t size, std::size_t align) {
    void* const behind_the_last = slabs_.take(size, align);
    return behind_the_last != nullptr ? behind_the_last : slabs_.take_elsewhere(size, align);
  }

  source source_;
  slabs<borrowed<source>, doubling<1024, 1024>> slabs_{source_};
};

std::size_t bytes_of(const stretch& s) { return static_cast<std::size_t>(s.end - s.begin); }

TEST_F(Slabs, StretchesShareAChunk) {
  const stretch a = slabs_.cut(24, 8, 24, 10);
  const stretch b = slabs_.cut(24, 16, 48, 4);
  EXPECT_EQ(bytes_of(a), 240u);
  EXPECT_EQ(bytes_of(b), 192u);
  EXPECT_GE(b.begin - 24, a.end);
  EXPECT_EQ(source_.held(), 1024u);
  EXPECT_FALSE(slabs_.validate());
}

TEST_F(Slabs, StretchesAreAlignedWithTheirPrefixInFront) {
  for (std::size_t align = 8; align <= 64; align *= 2) {
    const stretch s = slabs_.cut(24, align, 64, 1);
    EXPECT_TRUE(is_aligned(s.begin, align));
    EXPECT_TRUE(slabs_.owns(s.begin - 24) && slabs_.owns(s.end - 1));
  }
}

TEST_F(Slabs, TheEndOfAChunkIsUsedUpByAShorterStretch) {
  (void)slabs_.cut(8, 8, 300, 3);
  const stretch rest = slabs_.cut(8, 8, 16, 1000);
  EXPECT_GE(bytes_of(rest), 48u);
  EXPECT_LT(bytes_of(rest), 124u);
  EXPECT_EQ(source_.held(), 1024u);
}

TEST_F(Slabs, LargeUnitsLeaveTheEndsOfChunksToSmallOnes) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bytes_of(slabs_.cut(8, 8, 936, 5)), 936u);
  const std::size_t held = source_.held();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bytes_of(slabs_.cut(8, 8, 24, 1)), 24u);
  EXPECT_EQ(source_.held(), held);
}

TEST_F(Slabs, AChunkForLargeUnitsEndsWithAWholeOne) {
  EXPECT_EQ(bytes_of(slabs_.cut(8, 8, 600, 1)), 600u);
  EXPECT_LT(source_.held(), 700u);
}

TEST_F(Slabs, BytesTakenFollowEachOther) {
  auto* const first = static_cast<std::byte*>(take(100, 8));
  EXPECT_EQ(take(40, 8), first + 104);
  EXPECT_TRUE(is_aligned(take(64, 64), 64));
  EXPECT_EQ(source_.held(), 1024u);
  EXPECT_FALSE(slabs_.validate());
}

TEST_F(Slabs, NothingIsTakenWhereNothingWasYetOrNothingFits) {
  EXPECT_EQ(slabs_.take(100, 8), nullptr);
  (void)slabs_.take_elsewhere(100, 8);
  EXPECT_NE(slabs_.take(100, 8), nullptr);
  EXPECT_EQ(slabs_.take(900, 8), nullptr);
  EXPECT_EQ(source_.held(), 1024u);
}

TEST_F(Slabs, BytesAreTakenFromWhereTheyFit) {
  auto* const first = static_cast<std::byte*>(take(400, 8));
  auto* const second = static_cast<std::byte*>(take(700, 8));
  const std::size_t held = source_.held();
  EXPECT_EQ(take(300, 8), first + 400);
  EXPECT_EQ(take(40, 8), first + 704);
  EXPECT_EQ(source_.held(), held);
  EXPECT_NE(take(700, 8), second + 704) << "beyond the chunk";
  EXPECT_FALSE(slabs_.validate());
}

TEST_F(Slabs, ClearKeepsTheChunksReleaseDoesNot) {
  for (int i = 0; i < 6; ++i) (void)slabs_.cut(8, 8, 700, 1);
  const std::size_t held = source_.held();
  slabs_.clear();
  EXPECT_EQ(source_.held(), held);
  for (int i = 0; i < 6; ++i) (void)slabs_.cut(8, 8, 700, 1);
  EXPECT_EQ(source_.held(), held);
  EXPECT_FALSE(slabs_.validate());
  slabs_.release();
  EXPECT_EQ(source_.held(), 0u);
  EXPECT_NE(slabs_.cut(8, 8, 8, 1).begin, nullptr);
}

TEST_F(Slabs, NothingIsTakenFromWhereClearHasEndedAll) {
  void* const first = take(100, 8);
  slabs_.clear();
  EXPECT_EQ(take(100, 8), first);
  slabs_.release();
  EXPECT_TRUE(slabs_.owns(take(100, 8)));
  EXPECT_FALSE(slabs_.validate());
}

TEST(SlabsUnderPressure, GiveNullWhenNotOneUnitIsLeft) {
  alignas(16) std::byte bytes[1024];
  slabs<fixed_buffer, doubling<1024, 1024>> cut(bytes, sizeof bytes);
  EXPECT_EQ(cut.cut(8, 8, 2000, 1).begin, nullptr);
  EXPECT_NE(cut.cut(8, 8, 800, 1).begin, nullptr);
  EXPECT_EQ(cut.cut(8, 8, 400, 1).begin, nullptr);
  EXPECT_NE(cut.cut(8, 8, 40, 1).begin, nullptr);
  EXPECT_EQ(cut.take_elsewhere(200, 8), nullptr);
  EXPECT_NE(cut.take_elsewhere(40, 8), nullptr);
  EXPECT_FALSE(cut.validate());
}

}  // namespace
}  // namespace mallard
