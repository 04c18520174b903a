#include "mallard/layer/live_list.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "mallard/layer/failing.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "mallard/source/os_pages.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

using source = counting<memory_resource_source>;
using heap_type = live_list<upstream_ref<source>>;

static_assert(layered<heap_type> && releasable<heap_type> && freeable<heap_type> && measurable<heap_type>);
static_assert(owning<heap_type> && inspectable<heap_type> && predictable<heap_type>);

class LiveList : public testing::Test {
 protected:
  source source_;
  heap_type heap_{source_};
};

TEST_F(LiveList, BlocksHaveTheSizeAndAlignmentAskedFor) {
  for (std::size_t align = 1; align <= 16384; align *= 2)
    for (std::size_t size : {0u, 1u, 100u, 70000u}) {
      const block b = heap_.allocate(size, align);
      ASSERT_TRUE(b);
      EXPECT_GE(b.size, std::max<std::size_t>(size, 1));
      EXPECT_TRUE(is_aligned(b.data, align));
      EXPECT_EQ(heap_.usable_size(b.data), b.size);
      std::memset(b.data, 0xFF, b.size);
    }
  EXPECT_FALSE(heap_.validate());
}

TEST_F(LiveList, BlocksEndInEveryOrderAndGoBackAtOnce) {
  std::vector<block> blocks;
  for (std::size_t i = 0; i < 6; ++i) blocks.push_back(heap_.allocate(1000 + i, 8));
  for (std::size_t i : {3u, 0u, 5u, 1u, 4u, 2u}) {
    const std::size_t held = source_.held();
    heap_.deallocate(blocks[i].data, 1000 + i, 8);
    EXPECT_LT(source_.held(), held);
    EXPECT_FALSE(heap_.validate());
  }
  EXPECT_EQ(source_.held(), 0u);
}

TEST_F(LiveList, ThePointerAloneIsEnough) {
  const block b = heap_.allocate(100, 4096);
  heap_.deallocate(b.data);
  EXPECT_EQ(source_.held(), 0u);
}

TEST_F(LiveList, ReleaseGivesBackEveryBlock) {
  for (std::size_t align = 1; align <= 4096; align *= 2) (void)heap_.allocate(1000, align);
  heap_.release();
  EXPECT_EQ(source_.held(), 0u);
  EXPECT_EQ(heap_.usage(), (heap_usage{}));
}

TEST_F(LiveList, UsageTellsBlocksFromTheirFronts) {
  (void)heap_.allocate(1000, 8);
  const block aligned = heap_.allocate(1024, 1024);
  const heap_usage usage = heap_.usage();
  EXPECT_EQ(usage.held, source_.held());
  EXPECT_EQ(usage.carved, usage.held);
  EXPECT_EQ(usage.carved - usage.granted, 32u + 1024u);
  EXPECT_TRUE(heap_.owns(aligned.data));
  EXPECT_FALSE(heap_.owns(this));
}

TEST_F(LiveList, RefusesSizesThatCannotBe) {
  EXPECT_EQ(heap_.allocate(static_cast<std::size_t>(-1), 8), block{});
  EXPECT_EQ(heap_.allocate(max_request, 8), block{});
  EXPECT_EQ(heap_.allocate(8, std::size_t{1} << 63), block{});
}

TEST_F(LiveList, ABrokenNeighbourIsReported) {
  const block older = heap_.allocate(100, 8);
  const block newer = heap_.allocate(100, 8);
  EXPECT_FALSE(heap_.validate());
  std::byte kept[32];
  std::memcpy(kept, static_cast<std::byte*>(older.data) - 32, 32);
  std::memset(static_cast<std::byte*>(older.data) - 24, 0, 8);
  EXPECT_TRUE(heap_.validate());
  std::memcpy(static_cast<std::byte*>(older.data) - 32, kept, 32);
  EXPECT_FALSE(heap_.validate());
  EXPECT_TRUE(newer);
}

TEST(TrackedOverPages, GivesTheRestOfTheLastPage) {
  live_list<os_pages> heap;
  const block b = heap.allocate(10000, 8);
  EXPECT_EQ(b.size, align_up(10032, os_pages::page_size()) - 32);
  heap.deallocate(b.data, b.size, 8);
}

TEST(TrackedUnderPressure, ChangesNothingWhenTheUpstreamGivesNothing) {
  live_list<failing<source>> heap;
  const block b = heap.allocate(100, 8);
  heap.upstream().fail_from(1);
  EXPECT_EQ(heap.allocate(100, 8), block{});
  EXPECT_EQ(heap.usage().granted, b.size);
  EXPECT_FALSE(heap.validate());
}

}  // namespace
}  // namespace mallard
