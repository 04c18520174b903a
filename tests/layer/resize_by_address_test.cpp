#include "mallard/layer/resize_by_address.hpp"

#include <gtest/gtest.h>

#include "layer/scripted_heap.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard {
namespace {

using enum resize_way;

using knows_all = scripted_heap<expand_forward | expand_backward | allocate_new | shrink | try_shrink>;
using knows_forward = scripted_heap<expand_forward>;

resize_request asks(auto& heap, resize_way ways, std::size_t limit, std::size_t preferred) {
  return {heap.old_block.data(), 0, 8, limit, preferred, ways, 24};
}

TEST(ResizeByAddress, LeavesTheSizeToTheHeapThatKnowsIt) {
  knows_all heap;
  heap.answer = {{heap.old_block.data(), 64}, true};
  const resize_result result = resize_by_address(heap, asks(heap, expand_forward | expand_backward, 48, 64));
  EXPECT_EQ(result.memory.data, heap.old_block.data());
  EXPECT_EQ(result.memory.size, 64u);
  EXPECT_TRUE(result.reused);
  ASSERT_TRUE(heap.seen);
  EXPECT_EQ(heap.seen->size, unknown_size);
  EXPECT_EQ(heap.seen->limit, 48u);
  EXPECT_EQ(heap.seen->preferred, 64u);
  EXPECT_EQ(heap.seen->step, 24u);
  EXPECT_EQ(heap.seen->ways, expand_forward | expand_backward);
}

TEST(ResizeByAddress, OneCallDoesAllThatTheHeapKnows) {
  knows_all heap;
  EXPECT_FALSE(resize_by_address(heap, asks(heap, expand_forward | allocate_new, 48, 64)).memory);
  EXPECT_EQ(heap.allocations, 0);
}

TEST(ResizeByAddress, AllocatesWhatTheHeapCannotExpand) {
  knows_forward heap;
  const resize_result moved = resize_by_address(heap, asks(heap, expand_forward | allocate_new, 48, 64));
  EXPECT_TRUE(heap.seen);
  EXPECT_EQ(moved.memory.data, heap.new_block.data());
  EXPECT_FALSE(moved.reused);
}

TEST(ResizeByAddress, NothingIsAllocatedUnasked) {
  knows_forward heap;
  EXPECT_FALSE(resize_by_address(heap, asks(heap, expand_forward | expand_backward, 48, 64)).memory);
  EXPECT_FALSE(resize_by_address(heap, asks(heap, none, 48, 64)).memory);
  EXPECT_EQ(heap.allocations, 0);
}

TEST(ResizeByAddress, WithoutABlockThereIsOnlyANewOne) {
  knows_all heap;
  resize_request request = asks(heap, expand_forward | allocate_new, 48, 64);
  request.data = nullptr;
  EXPECT_EQ(resize_by_address(heap, request).memory.data, heap.new_block.data());
  request.ways = expand_forward;
  EXPECT_FALSE(resize_by_address(heap, request).memory);
  EXPECT_FALSE(heap.seen);
}

TEST(ResizeByAddress, WhatIsPreferredFailingTheLimitWillDo) {
  knows_forward heap;
  heap.largest = 50;
  EXPECT_EQ(resize_by_address(heap, asks(heap, allocate_new, 48, 64)).memory.size, 48u);
  heap.largest = 40;
  EXPECT_FALSE(resize_by_address(heap, asks(heap, allocate_new, 48, 64)).memory);
  heap.allocations = 0;
  EXPECT_FALSE(resize_by_address(heap, asks(heap, allocate_new, 48, 48)).memory);
  EXPECT_EQ(heap.allocations, 1);
}

TEST(ResizeByAddress, ABlockThatCannotShrinkStaysIfItIsSmallEnough) {
  knows_forward heap;
  const resize_result stays = resize_by_address(heap, asks(heap, shrink, 40, 8));
  EXPECT_EQ(stays.memory.data, heap.old_block.data());
  EXPECT_EQ(stays.memory.size, 40u);
  EXPECT_TRUE(stays.reused);
  EXPECT_FALSE(resize_by_address(heap, asks(heap, shrink, 39, 8)).memory);
  EXPECT_EQ(resize_by_address(heap, asks(heap, try_shrink, 8, 8)).memory.size, 40u);
  EXPECT_FALSE(heap.seen);
}

TEST(ResizeByAddress, AShrinkIsNeverANewBlock) {
  knows_all heap;
  EXPECT_FALSE(resize_by_address(heap, asks(heap, shrink | allocate_new, 16, 8)).memory);
  EXPECT_EQ(heap.allocations, 0);
}

TEST(ResizeByAddress, NothingCannotBeShrunk) {
  knows_all heap;
  for (const resize_way way : {shrink, try_shrink}) {
    resize_request request = asks(heap, way, 48, 8);
    request.data = nullptr;
    EXPECT_FALSE(resize_by_address(heap, request).memory);
  }
  EXPECT_FALSE(heap.seen);
  EXPECT_EQ(heap.allocations, 0);
}

TEST(ResizeByAddress, AHeapThatKnowsNoSizesAllocates) {
  multipool heap;
  const block old = heap.allocate(40, 8);
  const resize_result moved =
      resize_by_address(heap, {old.data, 0, 8, 48, 100, expand_forward | allocate_new});
  EXPECT_GE(moved.memory.size, 100u);
  EXPECT_FALSE(moved.reused);
  EXPECT_FALSE(resize_by_address(heap, {old.data, 0, 8, 48, 100, expand_forward}).memory);
  EXPECT_FALSE(resize_by_address(heap, {old.data, 0, 8, 16, 8, try_shrink}).memory);
  heap.deallocate(old.data, 40, 8);
  heap.deallocate(moved.memory.data, 100, 8);
  EXPECT_EQ(heap.usage().granted, 0u);
}

}  // namespace
}  // namespace mallard
