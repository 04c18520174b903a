#include "mallard/heap/best_fit/coalesce.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "mallard/source/counting.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"

namespace mallard {
namespace {

using source = counting<memory_resource_source>;
using blocks_type = coalesce<source, constant<16384>>;

class Coalesce : public testing::Test {
 protected:
  [[nodiscard]] std::size_t held() { return blocks_.upstream().held(); }

  blocks_type blocks_;
};

TEST_F(Coalesce, WhatWasFreedAMomentAgoIsTakenAsItIs) {
  boundary_tag* const b = blocks_.allocate(64);
  EXPECT_EQ(blocks_.take_recent(64), nullptr);
  blocks_.give(b);
  EXPECT_EQ(blocks_.usage(), (heap_usage{16384, 0, 0}));
  EXPECT_EQ(blocks_.take_recent(64), b);
  EXPECT_EQ(blocks_.usage(), (heap_usage{16384, 64, 56}));
  EXPECT_FALSE(blocks_.validate());
}

TEST_F(Coalesce, AFirstChunkIsLentAsAWhole) {
  boundary_tag* const all = blocks_.take_first_chunk(64);
  EXPECT_EQ(held(), 16384u);
  EXPECT_EQ(blocks_.take_first_chunk(64), nullptr) << "there is one";
  blocks_.close_first_chunk();
  EXPECT_FALSE(blocks_.validate());
  EXPECT_EQ(blocks_.usage().carved, all->size()) << "it is the caller's";
  blocks_.blocks().set_rest(all, all->size());
  EXPECT_EQ(blocks_.allocate(64), all);
  EXPECT_FALSE(blocks_.validate());
}

// As a heap does that ends before anybody has looked.
TEST_F(Coalesce, AFirstChunkMayEndWithoutBeingClosed) {
  ASSERT_NE(blocks_.take_first_chunk(64), nullptr);
  blocks_.clear();
  EXPECT_FALSE(blocks_.validate());
  EXPECT_EQ(blocks_.usage().carved, 0u);
  blocks_.release();
  ASSERT_NE(blocks_.take_first_chunk(64), nullptr);
  blocks_.release();
  EXPECT_EQ(held(), 0u);
}

TEST_F(Coalesce, WhatWasFreedBehindABlockAMomentAgoIsJoinedByItself) {
  boundary_tag* const b = blocks_.allocate(64);
  boundary_tag* const behind = blocks_.allocate(96);
  boundary_tag* const elsewhere = blocks_.allocate(128);
  EXPECT_FALSE(blocks_.join_recent_behind(b)) << "it is in use";
  blocks_.give(behind);
  blocks_.give(elsewhere);
  EXPECT_TRUE(blocks_.join_recent_behind(b));
  EXPECT_EQ(blocks_.blocks().room_behind(b), 96u);
  EXPECT_FALSE(blocks_.join_recent_behind(b)) << "it is free already";
  EXPECT_EQ(blocks_.take_recent(128), elsewhere) << "the others wait";
  EXPECT_FALSE(blocks_.validate());
}

TEST_F(Coalesce, AWholeChunkServesAnySizeAgain) {
  std::vector<boundary_tag*> small;
  for (int i = 0; i < 255; ++i) small.push_back(blocks_.allocate(64));
  EXPECT_EQ(held(), 16384u);
  for (boundary_tag* b : small) blocks_.give(b);
  EXPECT_FALSE(blocks_.validate());
  EXPECT_NE(blocks_.allocate(16352), nullptr) << "what was freed is joined before a chunk is asked for";
  EXPECT_EQ(held(), 16384u);
}

TEST_F(Coalesce, AlignedBlocksLeaveWhatIsAroundThemUsable) {
  boundary_tag* const aligned = blocks_.allocate_aligned(512, 4096);
  EXPECT_TRUE(is_aligned(aligned->data(), 4096));
  EXPECT_EQ(aligned->size(), 512u);
  EXPECT_FALSE(blocks_.validate());
  const std::size_t before = held();
  std::size_t bytes = 512;
  while (held() == before) bytes += blocks_.allocate(256)->size();
  EXPECT_GT(bytes, 16384u - 512);
}

TEST_F(Coalesce, WhatAnAlignedBlockLeavesServesTheNextOne) {
  std::array<boundary_tag*, 3> pages{};
  for (boundary_tag*& page : pages) page = blocks_.allocate_aligned(4096, 4096);
  const std::size_t of_pages = held();
  while (held() == of_pages) static_cast<void>(blocks_.allocate(32));  // what is free elsewhere is used
  const std::size_t before = held();
  for (int i = 0; i < 100; ++i) {
    boundary_tag*& page = pages[static_cast<std::size_t>(i) % 3];
    blocks_.give(page);
    page = blocks_.allocate_aligned(4096, 4096);
    EXPECT_TRUE(is_aligned(page->data(), 4096));
  }
  EXPECT_EQ(held(), before);
}

TEST_F(Coalesce, AFewIdleChunksAreKept) {
  std::vector<boundary_tag*> all;
  for (int i = 0; i < 40; ++i) all.push_back(blocks_.allocate(16352));
  EXPECT_EQ(held(), 40u * 16384);
  for (boundary_tag* b : all) blocks_.give(b);
  EXPECT_LE(held(), (std::size_t{64} << 10) + 16384) << "the rest is one of them";
  EXPECT_GE(held(), std::size_t{48} << 10);
  const std::size_t kept = held();
  boundary_tag* const again = blocks_.allocate(16352);
  EXPECT_EQ(held(), kept) << "and used first";
  blocks_.give(again);
  const std::size_t before_trim = held();
  EXPECT_EQ(blocks_.trim(20000), before_trim - 16384);
  EXPECT_EQ(blocks_.trim(0), 16384u);
  EXPECT_EQ(held(), 0u);
}

TEST_F(Coalesce, ABlockThatHasGrownGoesBackToTheRest) {
  boundary_tag* const first = blocks_.allocate(64);
  boundary_tag* const grown = blocks_.allocate(64);
  ASSERT_TRUE(blocks_.blocks().grow_into_rest(grown, 512));
  blocks_.give(grown);
  EXPECT_EQ(blocks_.blocks().rest(), grown) << "the next one grows there";
  EXPECT_EQ(blocks_.take_recent(512), nullptr);
  boundary_tag* const again = blocks_.allocate(64);
  ASSERT_TRUE(blocks_.blocks().grow_into_rest(again, 512));
  boundary_tag* const behind = blocks_.allocate(64);
  blocks_.give(again);
  EXPECT_EQ(blocks_.take_recent(512), again) << "not where it cannot";
  EXPECT_FALSE(again->has_grown());
  blocks_.give(again);
  blocks_.give(first);
  blocks_.give(behind);
  EXPECT_FALSE(blocks_.validate());
}

TEST_F(Coalesce, AChunkThatBecomesTheRestIsKeptIfItIsNotTooLarge) {
  const auto end_before_the_rest = [this](std::size_t size) {
    boundary_tag* const b = blocks_.allocate(size);
    blocks_.blocks().cut(b, 2048);
    EXPECT_EQ(blocks_.blocks().rest(), b->next());
    blocks_.give(b);
    EXPECT_FALSE(blocks_.validate());
  };
  end_before_the_rest(200000);
  EXPECT_EQ(held(), 0u);
  end_before_the_rest(16352);
  EXPECT_EQ(held(), 16384u);
}

TEST_F(Coalesce, ClearKeepsTheChunksAndReleaseDoesNot) {
  for (int i = 0; i < 100; ++i) blocks_.give(blocks_.allocate(i % 2 == 0 ? 64 : 8192));
  for (int i = 0; i < 100; ++i) static_cast<void>(blocks_.allocate(1008));
  const std::size_t before = held();
  blocks_.clear();
  EXPECT_FALSE(blocks_.validate());
  EXPECT_EQ(held(), before);
  EXPECT_EQ(blocks_.usage(), (heap_usage{before, 0, 0}));
  blocks_.release();
  EXPECT_FALSE(blocks_.validate());
  EXPECT_EQ(held(), 0u);
}

TEST(CoalesceInABuffer, UsesWhatItKeptWhereThereIsNoMore) {
  alignas(16) static std::array<std::byte, 65536> memory;
  coalesce<fixed_buffer, constant<4096>> blocks(memory.data(), memory.size());
  std::vector<boundary_tag*> small;
  while (boundary_tag* const b = blocks.allocate(1008)) small.push_back(b);
  EXPECT_GE(small.size(), 62u);
  for (boundary_tag* b : small) blocks.give(b);
  EXPECT_NE(blocks.allocate(65504), nullptr) << "all chunks went back, and became one";
}

}  // namespace
}  // namespace mallard
