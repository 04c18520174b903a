#include "mallard/core/reallocate.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/scripted_heap.hpp"
#include "mallard/core/align.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/source/os_pages.hpp"

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

// Bytes that tell which block they were written into, and where.
void write(void* p, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    static_cast<unsigned char*>(p)[i] = static_cast<unsigned char>(i * 7);
}
bool holds(const void* p, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    if (static_cast<const unsigned char*>(p)[i] != static_cast<unsigned char>(i * 7)) return false;
  return true;
}

class Reallocate : public testing::Test {
 protected:
  void* given(std::size_t size) {
    void* const p = heap.allocate(size, 16).data;
    write(p, size);
    return p;
  }

  basic_best_fit<failing<default_source>> heap;
};

TEST_F(Reallocate, NoBlockYetIsANewOne) {
  void* const p = reallocate(heap, nullptr, 100, 64);
  ASSERT_NE(p, nullptr);
  EXPECT_TRUE(is_aligned(p, 64));
  EXPECT_GE(heap.usable_size(p), 100u);
}

TEST_F(Reallocate, LessStaysAndGivesTheRestBack) {
  void* const p = given(10'000);
  EXPECT_EQ(reallocate(heap, p, 500, 16), p);
  EXPECT_LT(heap.usable_size(p), 600u);
  EXPECT_TRUE(holds(p, 500));
  EXPECT_EQ(reallocate(heap, p, heap.usable_size(p), 16), p);
  EXPECT_EQ(reallocate(heap, p, 0, 16), p) << "the smallest block there is";
}

TEST_F(Reallocate, MoreStaysWhereThereIsRoomBehind) {
  void* const p = given(500);
  EXPECT_EQ(reallocate(heap, p, 1500, 16), p);
  EXPECT_GE(heap.usable_size(p), 1500u);
  EXPECT_TRUE(holds(p, 500));
}

TEST_F(Reallocate, MoreMovesDownWhereThereIsRoomBefore) {
  void* const before = given(2000);
  void* const p = given(1000);
  void* const behind = given(100);
  heap.deallocate(before);
  static_cast<void>(heap.trim(SIZE_MAX));  // joins what was freed
  void* const now = reallocate(heap, p, 1500, 16);
  EXPECT_LT(now, p);
  EXPECT_GT(now, before);
  EXPECT_TRUE(holds(now, 1000)) << "the places that both have overlap";
  EXPECT_TRUE(holds(behind, 100));
}

TEST_F(Reallocate, MoreMovesElsewhereAndEndsTheOldBlock) {
  void* const p = given(500);
  void* const behind = given(100);
  const std::size_t granted = heap.usage().granted;
  void* const now = reallocate(heap, p, 5000, 64);
  EXPECT_NE(now, p);
  EXPECT_TRUE(is_aligned(now, 64));
  EXPECT_TRUE(holds(now, 500));
  EXPECT_TRUE(holds(behind, 100));
  EXPECT_LT(heap.usage().granted, granted + 5000);
}

TEST_F(Reallocate, WithoutMemoryTheBlockIsAsItWas) {
  void* const p = given(500);
  static_cast<void>(given(100));
  heap.upstream().fail_from(1);
  EXPECT_EQ(reallocate(heap, p, 1 << 20, 16), nullptr);
  EXPECT_EQ(reallocate(heap, p, SIZE_MAX, 16), nullptr);
  EXPECT_TRUE(holds(p, 500));
  EXPECT_EQ(heap.usable_size(p), 504u);
}

// Blocks that pass through the heap cannot be cut: a much smaller one takes their place.
TEST_F(Reallocate, WhatCannotBeCutMovesWhereThatSavesMuch) {
  void* const p = given(1'000'000);
  EXPECT_EQ(reallocate(heap, p, 600'000, 16), p) << "it saves less than half";
  void* const now = reallocate(heap, p, 1000, 16);
  EXPECT_NE(now, p);
  EXPECT_TRUE(holds(now, 1000));
  EXPECT_LT(heap.usage().held, 200'000u);
}

TEST_F(Reallocate, WhatCannotBeCutStaysWhereThereIsNoOtherMemory) {
  void* const p = given(1'000'000);
  heap.upstream().fail_from(1);
  EXPECT_EQ(reallocate(heap, p, 1000, 16), p);
  EXPECT_TRUE(holds(p, 1000));
}

TEST_F(Reallocate, AHeapThatKnowsSizesOnlyMovesItsBlocks) {
  live_list<os_pages> pages;
  void* p = pages.allocate(3000, 16).data;
  write(p, 3000);
  p = reallocate(pages, p, 50'000, 16);
  ASSERT_NE(p, nullptr);
  EXPECT_TRUE(holds(p, 3000));
  p = reallocate(pages, p, 100, 16);
  EXPECT_TRUE(holds(p, 100));
  EXPECT_EQ(pages.usage().held, 4096u);
}

}  // namespace
}  // namespace mallard
