#include "mallard/heap/stack_arena.hpp"

#include <gtest/gtest.h>

#include <list>
#include <memory_resource>
#include <type_traits>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

using arena = stack_arena<1024>;

static_assert(heap<arena> && layered<arena> && releasable<arena> && clearable<arena> && rewindable<arena> &&
              resizable<arena> && owning<arena> && inspectable<arena> && predictable<arena>);
static_assert(std::is_default_constructible_v<arena> && !std::is_copy_constructible_v<arena>);
static_assert(alignof(arena) >= default_align);
static_assert(heap_name<arena> == "stack_arena" && heap_name<stack_arena<1>> == "stack_arena");

class StackArena : public testing::Test {
 protected:
  [[nodiscard]] bool is_inside(const void* p) const {
    return address_of(p) - address_of(&arena_) < sizeof arena_;
  }

  basic_stack_arena<1024, failing<default_source>> arena_;
};

TEST_F(StackArena, AsksItsSourceForNothingWhileItFits) {
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(is_inside(arena_.allocate(16, 16).data));
  EXPECT_EQ(arena_.upstream().requests(), 0u);
  EXPECT_EQ(arena_.usage(), (heap_usage{1024, 1024, 1024}));
}

TEST_F(StackArena, GoesOnUpstreamWhenItIsFull) {
  ASSERT_TRUE(arena_.allocate(1024, 8));
  const block outside = arena_.allocate(1, 1);
  EXPECT_TRUE(outside);
  EXPECT_FALSE(is_inside(outside.data));
  EXPECT_EQ(arena_.upstream().requests(), 1u);
  EXPECT_FALSE(is_inside(arena_.allocate(5000, 8).data));
  EXPECT_FALSE(arena_.validate());
}

TEST_F(StackArena, BeginsInsideAgainAfterReleaseAndClearAndRewind) {
  const auto empty = arena_.mark();
  for (const int way : {0, 1, 2}) {
    const block first = arena_.allocate(1024, 8);
    EXPECT_TRUE(is_inside(first.data));
    EXPECT_FALSE(is_inside(arena_.allocate(1000, 8).data));
    if (way == 0) arena_.release();
    if (way == 1) arena_.clear();
    if (way == 2) arena_.rewind(empty);
    EXPECT_EQ(arena_.usage().granted, 0u);
  }
}

TEST_F(StackArena, ReleaseGivesAllChunksBack) {
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(arena_.allocate(100, 8));
  arena_.release();
  EXPECT_EQ(arena_.upstream().upstream().held(), 0u);
  EXPECT_EQ(arena_.usage(), (heap_usage{1024, 0, 0}));
}

TEST_F(StackArena, ServesWhatFitsWhereTheSourceHasNothing) {
  arena_.upstream().fail_from(1);
  EXPECT_TRUE(arena_.allocate(1000, 8));
  EXPECT_FALSE(arena_.allocate(1000, 8));
  EXPECT_TRUE(arena_.allocate(24, 8));
}

TEST_F(StackArena, AlignsTheInsideForEveryScalarAtOnce) {
  EXPECT_EQ(arena_.allocate(1024, default_align).size, 1024u);
  EXPECT_EQ(arena_.upstream().requests(), 0u);
}

TEST(StackArenaInside, BelongsToOneArena) {
  arena a;
  arena b;
  const block one = a.allocate(100, 8);
  const block other = b.allocate(100, 8);
  EXPECT_TRUE(a.owns(one.data) && b.owns(other.data));
  EXPECT_FALSE(a.owns(other.data) || b.owns(one.data));
}

TEST(StackArenaInside, IsTheOnlyMemoryOverASourceWithoutAny) {
  basic_stack_arena<256, fixed_buffer> small(nullptr, 0u);
  EXPECT_TRUE(small.allocate(256, 1));
  EXPECT_FALSE(small.allocate(1, 1));
}

TEST(StackArenaInside, CarriesContainersThroughBothFacades) {
  stack_arena<4096> heap;
  {
    std::vector<int, allocator<int, stack_arena<4096>>> numbers(heap);
    numbers.reserve(100);
    std::list<int, allocator<int, stack_arena<4096>>> list({1, 2, 3}, heap);
    EXPECT_TRUE(heap.owns(numbers.data()) && heap.owns(&list.front()));
  }
  EXPECT_EQ(heap.upstream().held(), 0u);
  resource<stack_arena<4096>> memory;
  const std::pmr::vector<int> numbers({1, 2, 3}, &memory);
  EXPECT_TRUE(memory.heap().owns(numbers.data()));
  EXPECT_EQ(memory.heap().upstream().held(), 0u);
}

}  // namespace
}  // namespace mallard
