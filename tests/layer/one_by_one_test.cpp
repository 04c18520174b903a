#include "mallard/layer/one_by_one.hpp"

#include <gtest/gtest.h>

#include "mallard/heap/pool.hpp"
#include "mallard/layer/failing.hpp"

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

}  // namespace
}  // namespace mallard
