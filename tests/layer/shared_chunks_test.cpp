#include "mallard/layer/shared_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fresh_pages.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

using source = counting<memory_resource_source>;

class Chunks : public testing::Test {
 protected:
  void* take(std::size_t size, std::size_t align) {
    void* const behind_the_last = shared_.take(size, align);
    return behind_the_last != nullptr ? behind_the_last : shared_.take_slow(size, align);
  }

  source source_;
  shared_chunks<upstream_ref<source>, doubling<1024, 1024>> shared_{source_};
};

std::size_t bytes_of(const span& s) { return static_cast<std::size_t>(s.end - s.begin); }

TEST_F(Chunks, SpansShareAChunk) {
  const span a = shared_.cut(24, 8, 24, 10);
  const span b = shared_.cut(24, 16, 48, 4);
  EXPECT_EQ(bytes_of(a), 240u);
  EXPECT_EQ(bytes_of(b), 192u);
  EXPECT_GE(b.begin - 24, a.end);
  EXPECT_EQ(source_.held(), 1024u);
  EXPECT_FALSE(shared_.validate());
}

TEST_F(Chunks, SpansAreAlignedWithTheirPrefixInFront) {
  for (std::size_t align = 8; align <= 64; align *= 2) {
    const span s = shared_.cut(24, align, 64, 1);
    EXPECT_TRUE(is_aligned(s.begin, align));
    EXPECT_TRUE(shared_.owns(s.begin - 24) && shared_.owns(s.end - 1));
  }
}

TEST_F(Chunks, TheEndOfAChunkIsUsedUpByAShorterSpan) {
  (void)shared_.cut(8, 8, 300, 3);
  const span rest = shared_.cut(8, 8, 16, 1000);
  EXPECT_GE(bytes_of(rest), 48u);
  EXPECT_LT(bytes_of(rest), 124u);
  EXPECT_EQ(source_.held(), 1024u);
}

TEST(ChunksOfPages, FreshPagesOfAlignedSpansArePopulatedInStepsOnceAMebibyteIsHeld) {
  if (!fresh_pages::can_be_populated()) GTEST_SKIP() << "the system is too old";
  constexpr std::size_t span_size = 8192, spans_of_a_step = 8, pages_of_a_step = 16;
  fresh_pages pages;
  shared_chunks<upstream_ref<fresh_pages>, constant<std::size_t{1} << 20>> shared{pages};  // chunks of half
  for (std::size_t i = 0; i < 64; ++i) ASSERT_NE(shared.take_aligned(span_size), nullptr);
  EXPECT_EQ(pages.resident(), 1u) << "the chunk's header";
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_NE(shared.take_aligned(span_size), nullptr);
    EXPECT_EQ(pages.resident(), (i / spans_of_a_step + 1) * pages_of_a_step);
  }
  pages.are_fresh = false;
  for (std::size_t i = 0; i < 64; ++i) ASSERT_NE(shared.take_aligned(span_size), nullptr);
  EXPECT_EQ(pages.resident(), 1u);
}

TEST_F(Chunks, LargeUnitsLeaveTheEndsOfChunksToSmallOnes) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bytes_of(shared_.cut(8, 8, 936, 5)), 936u);
  const std::size_t held = source_.held();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bytes_of(shared_.cut(8, 8, 24, 1)), 24u);
  EXPECT_EQ(source_.held(), held);
}

TEST_F(Chunks, AChunkForLargeUnitsEndsWithAWholeOne) {
  EXPECT_EQ(bytes_of(shared_.cut(8, 8, 600, 1)), 600u);
  EXPECT_LT(source_.held(), 700u);
}

TEST_F(Chunks, BytesTakenFollowEachOther) {
  auto* const first = static_cast<std::byte*>(take(100, 8));
  EXPECT_EQ(take(40, 8), first + 104);
  EXPECT_TRUE(is_aligned(take(64, 64), 64));
  EXPECT_EQ(source_.held(), 1024u);
  EXPECT_FALSE(shared_.validate());
}

TEST_F(Chunks, NothingIsTakenWhereNothingWasYetOrNothingFits) {
  EXPECT_EQ(shared_.take(100, 8), nullptr);
  (void)shared_.take_slow(100, 8);
  EXPECT_NE(shared_.take(100, 8), nullptr);
  EXPECT_EQ(shared_.take(900, 8), nullptr);
  EXPECT_EQ(source_.held(), 1024u);
}

TEST_F(Chunks, BytesAreTakenFromWhereTheyFit) {
  auto* const first = static_cast<std::byte*>(take(400, 8));
  auto* const second = static_cast<std::byte*>(take(700, 8));
  const std::size_t held = source_.held();
  EXPECT_EQ(take(300, 8), first + 400);
  EXPECT_EQ(take(40, 8), first + 704);
  EXPECT_EQ(source_.held(), held);
  EXPECT_NE(take(700, 8), second + 704) << "beyond the chunk";
  EXPECT_FALSE(shared_.validate());
}

TEST_F(Chunks, ClearKeepsTheChunksReleaseDoesNot) {
  for (int i = 0; i < 6; ++i) (void)shared_.cut(8, 8, 700, 1);
  const std::size_t held = source_.held();
  shared_.clear();
  EXPECT_EQ(source_.held(), held);
  for (int i = 0; i < 6; ++i) (void)shared_.cut(8, 8, 700, 1);
  EXPECT_EQ(source_.held(), held);
  EXPECT_FALSE(shared_.validate());
  shared_.release();
  EXPECT_EQ(source_.held(), 0u);
  EXPECT_NE(shared_.cut(8, 8, 8, 1).begin, nullptr);
}

TEST_F(Chunks, NothingIsTakenFromWhereClearHasEndedAll) {
  void* const first = take(100, 8);
  shared_.clear();
  EXPECT_EQ(take(100, 8), first);
  shared_.release();
  EXPECT_TRUE(shared_.owns(take(100, 8)));
  EXPECT_FALSE(shared_.validate());
}

TEST(SharedChunksUnderPressure, GiveNullWhenNotOneUnitIsLeft) {
  alignas(16) std::byte bytes[1024];
  shared_chunks<fixed_buffer, doubling<1024, 1024>> cut(bytes, sizeof bytes);
  EXPECT_EQ(cut.cut(8, 8, 2000, 1).begin, nullptr);
  EXPECT_NE(cut.cut(8, 8, 800, 1).begin, nullptr);
  EXPECT_EQ(cut.cut(8, 8, 400, 1).begin, nullptr);
  EXPECT_NE(cut.cut(8, 8, 40, 1).begin, nullptr);
  EXPECT_EQ(cut.take_slow(200, 8), nullptr);
  EXPECT_NE(cut.take_slow(40, 8), nullptr);
  EXPECT_FALSE(cut.validate());
}

TEST_F(Chunks, AlignedSpansHaveChunksOfTheirOwn) {
  const span other = shared_.cut(8, 8, 24, 1);
  std::vector<std::byte*> taken;
  for (int i = 0; i < 5; ++i) {
    taken.push_back(shared_.take_aligned(512));
    ASSERT_TRUE(taken.back() != nullptr && is_aligned(taken.back(), 512));
    EXPECT_TRUE(shared_.owns(taken.back()) && shared_.owns(taken.back() + 511));
  }
  EXPECT_LT(bytes_of(shared_.cut(8, 8, 24, 1000)), 1024u);
  std::vector<std::byte*> found;
  shared_.for_each_aligned(512, [&](std::byte* p) { found.push_back(p); });
  std::ranges::sort(found);
  std::ranges::sort(taken);
  EXPECT_EQ(found, taken);
  EXPECT_TRUE(
      std::ranges::none_of(taken, [&](std::byte* p) { return p <= other.begin && other.begin < p + 512; }));
  EXPECT_FALSE(shared_.validate());
}

TEST_F(Chunks, AClearedChunkServesAlignedSpansAgain) {
  for (int i = 0; i < 4; ++i) ASSERT_NE(shared_.take_aligned(512), nullptr);
  const std::size_t held = source_.held();
  shared_.clear();
  shared_.for_each_aligned(512, [](std::byte*) { ADD_FAILURE() << "there is none after clear()"; });
  for (int i = 0; i < 4; ++i) ASSERT_NE(shared_.take_aligned(512), nullptr);
  EXPECT_EQ(source_.held(), held);
}

TEST_F(Chunks, AWholeChunkIsTakenForOneUser) {
  const span room = shared_.take_chunk(100);
  EXPECT_EQ(bytes_of(room), 1024 - shared_.header_size);
  const auto* const other = static_cast<std::byte*>(shared_.take_slow(8, 8));
  EXPECT_TRUE(other < room.begin || room.end <= other);
}

}  // namespace
}  // namespace mallard
