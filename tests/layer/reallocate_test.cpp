#include "mallard/layer/reallocate.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "mallard/core/align.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

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
