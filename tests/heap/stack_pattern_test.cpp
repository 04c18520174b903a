#include "mallard/heap/stack_pattern.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "mallard/layer/failing.hpp"
#include "mallard/layer/nested.hpp"

namespace mallard {
namespace {

static_assert(clearable<stack_pattern> && releasable<stack_pattern> && freeable<stack_pattern> &&
              owning<stack_pattern> && predictable<stack_pattern> && inspectable<stack_pattern>);
static_assert(std::is_default_constructible_v<stack_pattern> && !std::is_copy_constructible_v<stack_pattern>);
static_assert(nestable<nested<basic_stack_pattern<shared_upstream<default_source>>>>);
static_assert(heap_name<stack_pattern> == "stack_pattern");

class StackPattern : public testing::Test {
 protected:
  void* push(std::size_t size) {
    void* const p = heap_.allocate(size, 8).data;
    EXPECT_NE(p, nullptr);
    return p;
  }
  [[nodiscard]] std::size_t held() const { return heap_.upstream().held(); }

  stack_pattern heap_;
};

TEST_F(StackPattern, WhatWasAtTheTopIsUsedAgain) {
  void* const a = push(24);
  void* const b = push(100);
  heap_.deallocate(b);
  EXPECT_EQ(push(3), b);
  heap_.deallocate(b, 3, 8);
  heap_.deallocate(a, 24, 8);
  EXPECT_EQ(push(1000), a);
}

TEST_F(StackPattern, AFreedBlockWaitsForThoseAboveIt) {
  void* const a = push(24);
  void* const b = push(24);
  void* const c = push(24);
  heap_.deallocate(a);
  heap_.deallocate(b);
  EXPECT_EQ(heap_.usage().granted, 24u) << "of c";
  void* const d = push(24);
  EXPECT_GT(d, c);
  heap_.deallocate(c);
  heap_.deallocate(d);
  EXPECT_EQ(heap_.usage().granted, 0u);
  EXPECT_EQ(push(24), a) << "the top has moved over all of them";
}

TEST_F(StackPattern, AnyDepthInAnyChunks) {
  std::vector<void*> stack;
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < 20'000; ++i) {
      stack.push_back(push(1 + i % 200));
      std::memset(stack.back(), static_cast<int>(i), 1 + i % 200);
    }
    ASSERT_FALSE(heap_.validate());
    for (std::size_t i = stack.size(); i-- > 0;) {
      ASSERT_EQ(*static_cast<unsigned char*>(stack[i]), static_cast<unsigned char>(i));
      heap_.deallocate(stack[i]);
    }
    stack.clear();
    EXPECT_EQ(heap_.usage().carved, 0u);
    ASSERT_FALSE(heap_.validate());
  }
}

TEST_F(StackPattern, ItIsLargerThanThirtyMegabytes) {
  for (int i = 0; i < 40'000; ++i) push(1000);
  EXPECT_GE(heap_.usage().granted, 40'000'000u);
}

TEST_F(StackPattern, FreedInTheOrderOfBirthItGrowsUntilTheLastOne) {
  std::vector<void*> queue;
  for (int i = 0; i < 10'000; ++i) queue.push_back(push(1000));
  const std::size_t peak = held();
  for (std::size_t i = 0; i + 1 < queue.size(); ++i) heap_.deallocate(queue[i]);
  EXPECT_EQ(held(), peak);
  EXPECT_EQ(heap_.usage().granted, 1000u);
  heap_.deallocate(queue.back());
  EXPECT_LT(held(), peak / 4) << "the first chunk and the largest";
}

TEST(StackPatternAtABorder, OfTwoChunksTheSourceIsNotAsked) {
  basic_stack_pattern<failing<default_source>> heap;
  void* first = nullptr;
  while (heap.upstream().requests() < 2) first = heap.allocate(1000, 8).data;
  const std::size_t held = heap.upstream().upstream().held();
  for (int round = 0; round < 100; ++round) {
    heap.deallocate(first);
    first = heap.allocate(1000, 8).data;
  }
  EXPECT_EQ(heap.upstream().requests(), 2u);
  EXPECT_EQ(heap.upstream().upstream().held(), held);
}

TEST_F(StackPattern, WhatLeavesNoRoomForAHeaderIsNull) {
  EXPECT_EQ(heap_.received_size(max_request - 30, 1), 0u);
  EXPECT_FALSE(heap_.allocate(max_request - 30, 1));
  EXPECT_FALSE(heap_.allocate(1, std::size_t{1} << 63));
  EXPECT_EQ(heap_.received_size(100, 1), 100u);
}

#if MALLARD_CHECKS >= 2
TEST(StackPatternDeathTest, ABlockFreedTwiceIsToldOf) {
  stack_pattern heap;
  void* const a = heap.allocate(8, 8).data;
  ASSERT_TRUE(heap.allocate(8, 8));
  heap.deallocate(a);
  EXPECT_DEATH(heap.deallocate(a), "is_freed");
}
#endif

}  // namespace
}  // namespace mallard
