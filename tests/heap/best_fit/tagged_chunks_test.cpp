#include "mallard/heap/best_fit/tagged_chunks.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fresh_pages.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/memory_resource_source.hpp"

namespace mallard {
namespace {

using source = failing<counting<memory_resource_source>>;
using chunks_type = tagged_chunks<source, doubling<4096, 65536>, 1024>;

class TaggedChunks : public testing::Test {
 protected:
  [[nodiscard]] std::size_t held_upstream() { return chunks_.upstream().upstream().held(); }
  [[nodiscard]] violation validate() const {
    std::size_t free_blocks = 0;
    return chunks_.validate(free_blocks);
  }

  chunks_type chunks_;
};

TEST_F(TaggedChunks, ANewChunkIsOneFreeBlock) {
  boundary_tag* const all = chunks_.add(100);
  ASSERT_NE(all, nullptr);
  EXPECT_FALSE(all->is_used());
  EXPECT_TRUE(all->is_previous_used());
  EXPECT_TRUE(all->is_whole_chunk());
  EXPECT_TRUE(is_aligned(all->data(), boundary_tag::granule));
  EXPECT_EQ(all->size() + 32, 4096u);
  EXPECT_EQ(chunks_.held(), held_upstream());
  std::size_t free_blocks = 0;
  EXPECT_FALSE(chunks_.validate(free_blocks));
  EXPECT_EQ(free_blocks, 1u);
}

// Chunks of Size bytes over pages. Eight are there, so that a ninth is an eighth of what is held.
template <std::size_t Size>
class chunks_of_pages {
 public:
  explicit chunks_of_pages(int count = 8) {
    for (int i = 0; i < count; ++i) (void)add();
  }

  // The resident pages of one more chunk with room for so many bytes.
  std::size_t add(std::size_t bytes = 100) {
    EXPECT_NE(chunks_.add(bytes), nullptr);
    return chunks_.upstream().resident();
  }

  void end_freshness() { chunks_.upstream().are_fresh = false; }

 private:
  tagged_chunks<fresh_pages, constant<Size>, 1024> chunks_;
};

constexpr std::size_t head_and_end = 2;  // pages that are written when a chunk is made

TEST(TaggedChunksOfPages, FreshPagesArePopulatedOnceAMebibyteIsHeld) {
  if (!fresh_pages::can_be_populated()) GTEST_SKIP() << "the system is too old";
  EXPECT_EQ(chunks_of_pages<124 * 1024>().add(), head_and_end);
  chunks_of_pages<128 * 1024> chunks;
  EXPECT_EQ(chunks.add(), 32u);
  chunks.end_freshness();
  EXPECT_EQ(chunks.add(), head_and_end);
}

TEST(TaggedChunksOfPages, OfALargeChunkAQuarterOfAMebibyteIsPopulated) {
  if (!fresh_pages::can_be_populated()) GTEST_SKIP() << "the system is too old";
  EXPECT_EQ(chunks_of_pages<512 * 1024>().add(), 64u + 1);
}

TEST(TaggedChunksOfPages, WhatASingleRequestNeedsIsNotPopulated) {
  chunks_of_pages<512 * 1024> chunks(16);
  EXPECT_EQ(chunks.add(600 * 1024), head_and_end) << "of 8 MiB";
}

TEST(TaggedChunksOfPages, AChunkThatMayStayUnusedForTheMostPartIsNotPopulated) {
  EXPECT_EQ(chunks_of_pages<512 * 1024>(7).add(), head_and_end) << "a seventh of what is held";
}

TEST_F(TaggedChunks, AnOpenChunkIsOneUsedBlockAndHasAnEndOnceItIsClosed) {
  boundary_tag* const all = chunks_.add_open(100);
  ASSERT_NE(all, nullptr);
  EXPECT_TRUE(all->is_used());
  EXPECT_TRUE(all->is_previous_used());
  EXPECT_EQ(all->size() + 32, 4096u);
  chunks_.close();
  EXPECT_FALSE(validate());
  EXPECT_TRUE(all->next()->ends_chunk());
  EXPECT_EQ(chunks_.usage().carved, all->size());
  chunks_.upstream().fail_from(1);
  EXPECT_EQ(chunks_.add_open(100), nullptr);
}

TEST_F(TaggedChunks, AChunkIsAsLargeAsItMustBe) {
  EXPECT_EQ(chunks_.add(99984)->size(), 99984u);
  chunks_.upstream().fail_at(1);
  EXPECT_EQ(chunks_.add(160)->size() + 32, 32768u) << "half of the wish";
}

// Gives a few bytes more than a whole number of granules.
class odd_source {
 public:
  block allocate(std::size_t size, std::size_t align) noexcept {
    const block b = below_.allocate(size + boundary_tag::granule, align);
    return {b.data, size + 11};
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    below_.deallocate(p, size - 11 + boundary_tag::granule, align);
  }

 private:
  memory_resource_source below_;
};

TEST(TaggedChunksOfOddSizes, WhatIsLessThanAGranuleIsLeftOut) {
  tagged_chunks<odd_source, constant<4096>, 1024> chunks;
  EXPECT_EQ(chunks.add(100)->size() + 32, 4096u);
  EXPECT_EQ(chunks.held(), 4096u + 11);
}

TEST_F(TaggedChunks, NothingChangesWhenTheUpstreamGivesNothing) {
  chunks_.upstream().fail_from(1);
  EXPECT_EQ(chunks_.add(100), nullptr);
  EXPECT_EQ(chunks_.held(), 0u);
  EXPECT_FALSE(validate());
}

TEST_F(TaggedChunks, AnyChunkGoesBack) {
  std::vector<boundary_tag*> all;
  for (int i = 0; i < 4; ++i) all.push_back(chunks_.add(100));
  for (const std::size_t i : {1u, 3u, 0u, 2u}) {
    const std::size_t held = chunks_.held();
    const std::size_t size = chunks_type::size_of(all[i]);
    chunks_.give_back(all[i]);
    EXPECT_EQ(chunks_.held(), held - size);
    EXPECT_EQ(chunks_.held(), held_upstream());
    EXPECT_FALSE(validate());
  }
  EXPECT_EQ(held_upstream(), 0u);
}

TEST_F(TaggedChunks, AllBecomeWholeAgain) {
  boundary_tag* const b = chunks_.add(100);
  b->set_used(64);
  b->next()->set_used(4096 - 32 - 64);
  b->next()->next()->mark_previous_used();
  EXPECT_FALSE(validate());
  EXPECT_EQ(chunks_.usage(), (heap_usage{4096, 4064, 4048}));
  std::size_t chunks = 0;
  chunks_.make_all_whole(
      [&](boundary_tag* all) { chunks += static_cast<std::size_t>(all->is_whole_chunk()); });
  EXPECT_EQ(chunks, 1u);
  EXPECT_EQ(chunks_.usage(), (heap_usage{4096, 0, 0}));
}

TEST_F(TaggedChunks, OwnsWhatLiesInChunks) {
  boundary_tag* const b = chunks_.add(100);
  EXPECT_TRUE(chunks_.owns(b));
  EXPECT_TRUE(chunks_.owns(b->next()));
  EXPECT_FALSE(chunks_.owns(this));
  EXPECT_TRUE(chunks_.block_ranges().contains(b, boundary_tag::granule));
  chunks_.release();
  EXPECT_FALSE(chunks_.owns(b));
  EXPECT_EQ(held_upstream(), 0u);
}

TEST_F(TaggedChunks, EveryLieOfATagIsTold) {
  boundary_tag* const b = chunks_.add(100);
  const std::size_t room = b->size();
  const auto restore = [&] {
    b->set_free(room);
    b->at(room)->set_end(room);
    EXPECT_FALSE(validate());
  };
  b->resize(16);
  EXPECT_STREQ(validate().what, "tagged_chunks: a block has no valid size");
  restore();
  b->resize(64);
  EXPECT_TRUE(validate()) << "no footer, no block behind";
  restore();
  b->mark_previous_free();
  EXPECT_STREQ(validate().what, "tagged_chunks: a tag is wrong about the block before");
  restore();
  b->at(room)->mark_previous_used();
  EXPECT_STREQ(validate().what, "tagged_chunks: an end is wrong about the block before");
  restore();
  b->at(room)->set_used(room);
  EXPECT_STREQ(validate().what, "tagged_chunks: a chunk has no end");
  restore();
  (b->at(room) - 1)->resize(32);
  EXPECT_STREQ(validate().what, "tagged_chunks: a free block's footer is not its size");
  restore();
  b->set_free(64);
  b->at(64)->set_free(room - 64);
  b->at(64)->mark_previous_free();
  EXPECT_STREQ(validate().what, "tagged_chunks: two free blocks are neighbours");
  restore();
}

}  // namespace
}  // namespace mallard
