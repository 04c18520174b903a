#include "mallard/allocator/resize_objects.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "core/scripted_heap.hpp"

namespace mallard {
namespace {

using enum resize_way;
using namespace commands;

class ResizeObjects : public testing::Test {
 protected:
  static constexpr object_layout twelve{12, 8, 24};

  resize_request asked(allocation_type command, std::size_t limit, std::size_t preferred,
                       const object_layout& objects = twelve) {
    heap.seen.reset();
    heap.answer = {{heap.old_block.data(), 48}, true};
    result = resize_objects(heap, command, limit, preferred, heap.old_block.data(), objects);
    return heap.seen.value_or(resize_request{});
  }

  scripted_heap<expand_forward | expand_backward | allocate_new | shrink | try_shrink> heap;
  resize_result result;
};

TEST_F(ResizeObjects, GrowsByWholeObjects) {
  const resize_request q = asked(expand_fwd | expand_bwd | nothrow_allocation, 3, 7);
  EXPECT_EQ(q.limit, 36u);
  EXPECT_EQ(q.preferred, 84u);
  EXPECT_EQ(q.align, 8u);
  EXPECT_EQ(q.step, 24u);
  EXPECT_EQ(q.ways, expand_forward | expand_backward);
  EXPECT_EQ(q.data, heap.old_block.data());
  EXPECT_EQ(result.memory.size, 48u);
  EXPECT_TRUE(result.reused);
}

TEST_F(ResizeObjects, AWishForLessThanTheLimitIsOneForTheLimit) {
  EXPECT_EQ(asked(expand_fwd, 5, 3).preferred, 60u);
}

TEST_F(ResizeObjects, ShrinksToTheEndOfTheLastWholeObject) {
  const resize_request q = asked(shrink_in_place, 3, 2);
  EXPECT_EQ(q.limit, 47u) << "three objects fit, four do not";
  EXPECT_EQ(q.preferred, 24u);
  EXPECT_EQ(q.ways, shrink);
  EXPECT_EQ(asked(try_shrink_in_place, 2, 9).preferred, 24u) << "a wish for more than the limit";
}

TEST_F(ResizeObjects, EveryBlockCanBeLinked) {
  const object_layout bytes{1, 1, 1};
  EXPECT_EQ(asked(expand_fwd, 1, 2, bytes).limit, sizeof(void*));
  EXPECT_EQ(asked(shrink_in_place, 3, 1, bytes).limit, sizeof(void*));
  EXPECT_EQ(asked(shrink_in_place, 0, 0, bytes).preferred, sizeof(void*));
}

TEST_F(ResizeObjects, ProductsThatOverflowAreNoLimit) {
  asked(expand_fwd | commands::allocate_new, max_request / 12 + 1, SIZE_MAX);
  EXPECT_FALSE(heap.seen);
  EXPECT_FALSE(result.memory);
  EXPECT_LE(asked(expand_fwd, 3, SIZE_MAX).preferred, max_request);
  EXPECT_LE(asked(shrink_in_place, SIZE_MAX, SIZE_MAX).limit, max_request + 11);
}

TEST_F(ResizeObjects, NoWayIsNone) {
  asked(nothrow_allocation, 3, 3);
  EXPECT_FALSE(result.memory);
  EXPECT_EQ(heap.allocations, 0);
}

// The numbers themselves are compared with Boost's in tests/containers/boost.

TEST(AllocationType, EachCommandIsABitOfItsOwn) {
  allocation_type all = 0;
  for (const allocation_type command :
       {commands::allocate_new, commands::expand_fwd, commands::expand_bwd, commands::shrink_in_place,
        commands::nothrow_allocation, commands::try_shrink_in_place}) {
    EXPECT_TRUE(std::has_single_bit(command));
    EXPECT_EQ(all & command, 0u);
    all |= command;
  }
}

}  // namespace
}  // namespace mallard
