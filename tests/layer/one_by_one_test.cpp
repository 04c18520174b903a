#include "mallard/layer/one_by_one.hpp"

#include <gtest/gtest.h>

#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/stats.hpp"

namespace mallard {
namespace {

TEST(OneByOne, AppendsSoManyBlocks) {
  pool heap(48);
  chain out;
  ASSERT_TRUE(allocate_one_by_one(heap, out, 3, 48, 8));
  ASSERT_TRUE(allocate_one_by_one(heap, out, 2, 1, 1));
  ASSERT_TRUE(allocate_one_by_one(heap, out, 0, 1, 1));
  EXPECT_EQ(out.size(), 5u);
  EXPECT_EQ(heap.statistics().live(), 5u);
}

TEST(OneByOne, BlocksHaveRoomForALink) {
  pool heap;
  chain out;
  ASSERT_TRUE(allocate_one_by_one(heap, out, 1, 0, 1));
  EXPECT_EQ(heap.block_size(), sizeof(void*));
}

TEST(OneByOne, WhereOneFailsNoneIsLeft) {
  basic_pool<failing<os_pages>> heap(1000);
  heap.upstream().fail_from(3);
  chain out;
  ASSERT_TRUE(allocate_one_by_one(heap, out, 1, 1000, 8));
  EXPECT_FALSE(allocate_one_by_one(heap, out, 1000, 1000, 8));
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(heap.statistics().live(), 1u);
}

TEST(OneByOne, BlocksOfGivenLengthsGoBackWithTheirSizes) {
  stats<multipool> heap;
  const std::size_t lengths[] = {3, 0, 100};
  chain out;
  ASSERT_TRUE(allocate_one_by_one(heap, out, lengths, 3, 4, 8));
  EXPECT_EQ(heap.statistics().requested.live, 12 + sizeof(void*) + 400);
  const std::size_t sizes[] = {12, sizeof(void*), 400};
  deallocate_one_by_one(heap, out, 8, [&sizes](std::size_t i) { return sizes[i]; });
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(heap.statistics().requested.live, 0u);
}

TEST(OneByOne, ALengthThatOverflowsLeavesNone) {
  stats<multipool> heap;
  const std::size_t lengths[] = {3, max_request / 4 + 1};
  chain out;
  EXPECT_FALSE(allocate_one_by_one(heap, out, lengths, 2, 4, 8));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(heap.statistics().blocks.live, 0u);
}

}  // namespace
}  // namespace mallard
