#include "mallard/layer/chunk_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fresh_pages.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

using source = counting<memory_resource_source>;

class ChunkList : public testing::Test {
 protected:
  using chunks = chunk_list<upstream_ref<source>, doubling<256, 2048>>;

  chunks::chunk* add_aligned() {
    bool is_fresh = true;
    chunks::chunk* const added = chunks_.add_aligned(512, is_fresh);
    EXPECT_FALSE(is_fresh) << "the source does not say";
    return added;
  }

  source source_;
  chunks chunks_{source_};
};

TEST_F(ChunkList, HoldsNothingUntilAChunkIsAdded) {
  EXPECT_EQ(chunks_.held(), 0u);
  EXPECT_EQ(chunks_.newest(), nullptr);
  EXPECT_EQ(source_.max_held(), 0u);
}

TEST_F(ChunkList, GrowsAsThePolicyWishesAndAsRequestsNeed) {
  for (std::size_t expected : {256u, 512u, 1024u, 2048u, 2048u}) {
    ASSERT_NE(chunks_.add(1, 1), nullptr);
    EXPECT_EQ(chunks_.newest()->size(), expected);
  }
  auto* const large = chunks_.add(5000, 1);
  EXPECT_GE(large->end() - large->begin(), 5000);
  EXPECT_EQ(chunks_.held(), source_.held());
  EXPECT_FALSE(chunks_.validate());
}

TEST(ChunkListOfBlocks, LeavesNoLargePartOfAChunkToNoBlock) {
  chunk_list<source, constant<100000>> chunks;
  for (const std::size_t unit : {33000u, 40000u, 51000u, 99000u}) {
    const std::size_t size = chunks.add(unit, 1, unit)->size();
    EXPECT_LE(size, 100000u) << unit;
    EXPECT_LT(size % unit, unit / 10) << unit;
  }
  EXPECT_EQ(chunks.add(1000, 1, 1000)->size(), 100000u);
  EXPECT_GE(chunks.add(150000, 1, 150000)->size(), 150000u);
  EXPECT_LT(chunks.newest()->size(), 160000u);
  EXPECT_FALSE(chunks.validate());
}

TEST_F(ChunkList, AnAlignedChunkIsAWholeNumberOfUnits) {
  for (int i = 0; i < 6; ++i) {
    auto* const added = add_aligned();
    ASSERT_TRUE(added != nullptr && is_aligned(added, 512));
    EXPECT_EQ(added->size() % 512, 0u);
  }
  EXPECT_EQ(chunks_.held(), source_.held());
  EXPECT_FALSE(chunks_.validate());
  chunks_.release();
  EXPECT_EQ(source_.held(), 0u);
}

TEST_F(ChunkList, ASpareServesAsAnAlignedChunkOnlyWhereItIsAligned) {
  auto* const aligned = add_aligned();
  ASSERT_NE(chunks_.add(700, 8), nullptr);
  chunks_.recycle();
  EXPECT_EQ(add_aligned(), aligned);
  auto* const second = add_aligned();
  EXPECT_TRUE(is_aligned(second, 512));
}

TEST(ChunkListOfPages, SaysWhetherAnAlignedChunkIsFresh) {
  chunk_list<fresh_pages, constant<65536>> chunks;
  bool is_fresh = false;
  ASSERT_NE(chunks.add_aligned(4096, is_fresh), nullptr);
  EXPECT_TRUE(is_fresh);
  chunks.recycle();
  ASSERT_NE(chunks.add_aligned(4096, is_fresh), nullptr);
  EXPECT_FALSE(is_fresh) << "a spare has been in use";
}

TEST_F(ChunkList, HasRoomForTheAlignmentOfARequest) {
  for (std::size_t align = 1; align <= 8192; align *= 2) {
    auto* const added = chunks_.add(4000, align);
    EXPECT_TRUE(is_aligned(added->begin(), default_align));
    EXPECT_LE(padding_for(added->begin(), align) + 4000,
              static_cast<std::size_t>(added->end() - added->begin()));
  }
}

TEST_F(ChunkList, KeepsTheLargestDroppedChunkForTheNextThatFits) {
  (void)chunks_.add(1, 1);
  const std::size_t largest = chunks_.add(3000, 1)->size();
  (void)chunks_.add(1, 1);
  ASSERT_LT(chunks_.newest()->size(), largest);
  while (chunks_.newest() != nullptr) chunks_.drop_newest();
  EXPECT_EQ(source_.held(), largest);
  EXPECT_FALSE(chunks_.validate());
  EXPECT_EQ(chunks_.add(1, 1)->size(), largest);
  EXPECT_EQ(source_.held(), largest);
}

TEST_F(ChunkList, TheFirstSpareIsAddedAsItIs) {
  EXPECT_EQ(chunks_.add_spare(), nullptr);
  auto* const first = chunks_.add(1, 1);
  (void)chunks_.add(1, 1);
  chunks_.recycle();
  EXPECT_EQ(chunks_.add_spare(), first);
  EXPECT_EQ(chunks_.newest(), first);
  EXPECT_EQ(first->older(), nullptr);
  EXPECT_EQ(chunks_.held(), source_.held());
  EXPECT_FALSE(chunks_.validate());
  chunks_.trim_spares(0);
  EXPECT_EQ(chunks_.held(), 256u) << "it is no spare any more";
}

TEST_F(ChunkList, AsksTheUpstreamWhenTheSpareIsTooSmall) {
  (void)chunks_.add(1, 1);
  chunks_.drop_newest();
  auto* const large = chunks_.add(3000, 1);
  EXPECT_GE(large->size(), 3000u);
  EXPECT_EQ(source_.held(), 256 + large->size());
}

TEST_F(ChunkList, ClearKeepsOneChunkRecycleAllReleaseNone) {
  for (int i = 0; i < 3; ++i) (void)chunks_.add(1, 1);
  EXPECT_EQ(source_.held(), 256u + 512u + 1024u);
  chunks_.recycle();
  EXPECT_EQ(chunks_.newest(), nullptr);
  EXPECT_EQ(source_.held(), 256u + 512u + 1024u);
  EXPECT_FALSE(chunks_.validate());
  for (int i = 0; i < 3; ++i) (void)chunks_.add(1, 1);
  EXPECT_EQ(source_.held(), 256u + 512u + 1024u);
  chunks_.clear();
  EXPECT_EQ(source_.held(), 1024u);
  chunks_.release();
  EXPECT_EQ(source_.held(), 0u);
  EXPECT_EQ(chunks_.held(), 0u);
}

TEST_F(ChunkList, RecycledChunksComeBackInTheirOrder) {
  std::vector<void*> used;
  for (int i = 0; i < 30; ++i) used.push_back(chunks_.add(i % 7 == 0 ? 3000 : 1, 1));
  const std::size_t held = source_.held();
  for (int round = 0; round < 3; ++round) {
    chunks_.recycle();
    for (std::size_t i = 0; i < used.size(); ++i)
      ASSERT_EQ(chunks_.add(i % 7 == 0 ? 3000 : 1, 1), used[i]) << "chunk " << i;
  }
  EXPECT_EQ(source_.held(), held);
}

TEST_F(ChunkList, SortsChunksByAddressAndKeepsTheirOrderOfAge) {
  std::vector<void*> by_age;
  for (int i = 0; i < 100; ++i) by_age.push_back(chunks_.add(i % 7 == 0 ? 3000 : 1, 1));
  std::vector<void*> by_address = by_age;
  std::sort(by_address.begin(), by_address.end());
  const auto* low = chunks_.sort();
  for (void* const expected : by_address) {
    ASSERT_EQ(low, expected);
    low = low->higher();
  }
  EXPECT_EQ(low, nullptr);
  const auto* young = chunks_.newest();
  for (; !by_age.empty(); by_age.pop_back(), young = young->older()) ASSERT_EQ(young, by_age.back());
}

TEST_F(ChunkList, GivesTheChunksBackThatAreMeant) {
  for (int i = 0; i < 10; ++i) (void)chunks_.add(i % 2 == 0 ? 3000 : 1, 1);
  const std::size_t held = source_.held();
  std::size_t small = 0;
  chunks_.drop_if([&](const auto* c) {
    small += c->size() < 3000 ? c->size() : 0;
    return c->size() < 3000;
  });
  EXPECT_EQ(source_.held(), held - small);
  EXPECT_EQ(chunks_.held(), source_.held());
  for (const auto* c = chunks_.newest(); c != nullptr; c = c->older()) EXPECT_GE(c->size(), 3000u);
  chunks_.drop_if([](const auto*) { return true; });
  EXPECT_EQ(chunks_.newest(), nullptr);
  EXPECT_EQ(source_.held(), 0u);
}

// A large spare behind many small ones is not searched for, but found when there is nothing else.
TEST(ChunkListSpares, AreAllLookedThroughOnlyWhereTheUpstreamIsExhausted) {
  chunk_list<failing<source>, doubling<256, 256>> chunks;
  for (int i = 0; i < 1000; ++i) ASSERT_NE(chunks.add(1, 1), nullptr);
  auto* const large = chunks.add(3000, 1);
  chunks.recycle();
  auto* const another = chunks.add(3000, 1);
  EXPECT_NE(another, large);
  chunks.upstream().fail_from(1);
  EXPECT_EQ(chunks.add(3000, 1), large);
  EXPECT_EQ(chunks.add(3000, 1), nullptr);
  EXPECT_FALSE(chunks.validate());
}

TEST_F(ChunkList, OwnsWhatItsChunksAndSparesSpan) {
  auto* const first = chunks_.add(1, 1);
  auto* const second = chunks_.add(1, 1);
  EXPECT_TRUE(chunks_.owns(first->begin()) && chunks_.owns(second->end() - 1));
  EXPECT_FALSE(chunks_.owns(&chunks_));
  std::byte* const in_spare = second->begin();
  chunks_.drop_newest();
  EXPECT_TRUE(chunks_.owns(in_spare));
}

TEST_F(ChunkList, ReportsAChunkFilledBeyondItsRoom) {
  auto* const added = chunks_.add(1, 1);
  added->set_filled(added->end() + 1);
  EXPECT_TRUE(chunks_.validate());
  added->set_filled(added->end());
  EXPECT_FALSE(chunks_.validate());
}

TEST_F(ChunkList, RefusesRoomThatCannotBe) {
  EXPECT_EQ(chunks_.add(static_cast<std::size_t>(-1), 1), nullptr);
  EXPECT_EQ(chunks_.add(max_request, 1), nullptr);
  EXPECT_EQ(chunks_.add(1, std::size_t{1} << 63), nullptr);
  EXPECT_EQ(source_.max_held(), 0u);
}

TEST(ChunkListUnderPressure, TakesLessThanItWishesWhereThatIsAllThereIs) {
  alignas(16) std::byte bytes[1024];
  chunk_list<fixed_buffer, doubling<512, 4096>> chunks(bytes, sizeof bytes);
  ASSERT_NE(chunks.add(1, 1), nullptr);
  EXPECT_EQ(chunks.newest()->size(), 512u);
  ASSERT_NE(chunks.add(1, 1), nullptr);
  EXPECT_EQ(chunks.newest()->size(), 512u);
  EXPECT_EQ(chunks.add(1, 1), nullptr);
  EXPECT_FALSE(chunks.validate());
}

TEST(ChunkListUnderPressure, ChangesNothingWhenTheUpstreamGivesNothing) {
  chunk_list<failing<source>, doubling<256, 1024>> chunks;
  auto* const first = chunks.add(1, 1);
  chunks.upstream().fail_from(1);
  EXPECT_EQ(chunks.add(1, 1), nullptr);
  EXPECT_EQ(chunks.newest(), first);
  EXPECT_EQ(chunks.held(), 256u);
  EXPECT_FALSE(chunks.validate());
}

TEST(ChunkListUnderPressure, TakesAChunkInThePlaceOfItsSpares) {
  chunk_list<limited<source>, doubling<256, 256>> chunks(byte_limit{1024});
  for (int i = 0; i < 4; ++i) ASSERT_NE(chunks.add(1, 1), nullptr);
  EXPECT_FALSE(chunks.give_spares_back()) << "there are none";
  chunks.recycle();
  EXPECT_EQ(chunks.add(800, 1), nullptr);
  EXPECT_EQ(chunks.held(), 1024u) << "and all are there";
  EXPECT_TRUE(chunks.give_spares_back());
  auto* const only = chunks.add(800, 1);
  ASSERT_NE(only, nullptr);
  EXPECT_EQ(chunks.newest(), only);
  EXPECT_EQ(only->older(), nullptr);
  EXPECT_EQ(chunks.held(), only->size());
  EXPECT_FALSE(chunks.validate());
}

TEST(ChunkListOverChunkList, PassesClearAndReleaseOn) {
  struct ending : source {
    using source::source;
    int cleared = 0, released = 0;
    void clear() noexcept { ++cleared; }
    void release() noexcept { ++released; }
  };
  chunk_list<ending, doubling<256, 1024>> chunks;
  auto* const first = chunks.add(1, 1);
  chunks.clear();
  EXPECT_EQ(chunks.upstream().cleared, 1);
  EXPECT_EQ(chunks.held(), 0u);
  chunks.release();
  EXPECT_EQ(chunks.upstream().released, 1);
  EXPECT_EQ(chunks.upstream().held(), 256u);  // the chunk is the upstream's to end
  chunks.upstream().deallocate(first, 256, 16);
}

// A size that is not known when the code is compiled.
struct as_set {
  static inline std::size_t first = 4096;
  static std::size_t next(std::size_t newest, std::size_t held) noexcept {
    return held == 0 ? first : 2 * newest;
  }
};

TEST(ChunkListGrowth, MayBeSetWhenTheProgramRuns) {
  chunk_list<source, as_set> chunks;
  ASSERT_NE(chunks.add(100, 8), nullptr);
  ASSERT_NE(chunks.add(100, 8), nullptr);
  EXPECT_EQ(chunks.held(), 3 * as_set::first);
}

}  // namespace
}  // namespace mallard
