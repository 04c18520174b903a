#include "mallard/allocator/v2_allocator.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "core/scripted_heap.hpp"
#include "mallard/debug/guarded.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/layer/stats.hpp"

namespace mallard {
namespace {

using namespace commands;  // NOLINT(google-build-using-namespace): as a user of many commands
using resize_way::expand_backward;
using resize_way::expand_forward;
using resize_way::shrink;
using resize_way::try_shrink;

using traits = std::allocator_traits<v2_allocator<int, multipool>>;
static_assert(std::is_same_v<traits::rebind_alloc<char>, v2_allocator<char, multipool>>);
static_assert(std::is_same_v<traits::pointer, int*>);
static_assert(v2_allocator<int, multipool>::version::value == 2);
static_assert(sizeof(v2_allocator<int, multipool>) == sizeof(void*));
static_assert(std::is_trivially_copyable_v<v2_allocator<int, multipool>>);

// --- commands: what the heap sees of them, and what becomes of its answer --------------------------

struct triple {
  int ints[3];
};

using scripted =
    scripted_heap<expand_forward | expand_backward | resize_way::allocate_new | shrink | try_shrink>;

class V2Command : public testing::Test {
 protected:
  template <class T, allocation_type Disabled = 0>
  T* run(allocation_type command, std::size_t limit, std::size_t preferred) {
    v2_allocator<T, scripted, Disabled> allocator(heap_);
    T* reuse = old<T>();
    received_ = preferred;
    T* const p = allocator.allocation_command(command, limit, received_, reuse);
    reused_ = reuse;
    return p;
  }

  template <class T>
  T* old() {
    return reinterpret_cast<T*>(heap_.old_block.data());
  }

  scripted heap_;
  std::size_t received_ = 0;
  void* reused_ = nullptr;
};

TEST_F(V2Command, SizesAreOfObjects) {
  heap_.answer = {{heap_.old_block.data(), 50}, true};
  EXPECT_EQ(run<triple>(expand_fwd, 4, 5), old<triple>());
  EXPECT_EQ(received_, 4u) << "50 bytes are four objects of 12";
  EXPECT_EQ(reused_, old<triple>());
  EXPECT_EQ(heap_.seen->limit, 48u);
  EXPECT_EQ(heap_.seen->preferred, 60u);
  EXPECT_EQ(heap_.seen->ways, expand_forward);
}

TEST_F(V2Command, ABeginMovesByWholeObjectsThatKeepItAligned) {
  heap_.answer = {{heap_.old_block.data(), 64}, true};
  EXPECT_NE(run<triple>(expand_bwd, 4, 5), nullptr);
  EXPECT_EQ(heap_.seen->step, 24u);
  EXPECT_NE(run<char>(expand_bwd, 50, 60), nullptr);
  EXPECT_EQ(heap_.seen->step, 8u);
  EXPECT_NE((run<std::array<char, 3>>(expand_bwd, 20, 20)), nullptr);
  EXPECT_EQ(heap_.seen->step, 24u);
  struct alignas(64) wide {
    char bytes[192];
  };
  EXPECT_EQ((run<wide>(expand_bwd | nothrow_allocation, 1, 1)), old<wide>());
  EXPECT_EQ(heap_.seen->step, 192u);
  EXPECT_EQ(heap_.seen->align, 64u);
}

TEST_F(V2Command, ABlockMovedBackwardIsReused) {
  std::byte* const lower = heap_.new_block.data();
  heap_.answer = {{lower, 64}, true};
  EXPECT_EQ(static_cast<void*>(run<long>(allocate_new | expand_fwd | expand_bwd, 6, 8)), lower);
  EXPECT_EQ(reused_, old<long>());
  EXPECT_EQ(heap_.seen->ways, resize_way::allocate_new | expand_forward | expand_backward);
}

TEST_F(V2Command, ANewBlockIsNotReused) {
  heap_.answer = {{heap_.new_block.data(), 64}, false};
  EXPECT_NE(run<long>(allocate_new | expand_fwd, 6, 8), nullptr);
  EXPECT_EQ(reused_, nullptr);
  EXPECT_EQ(received_, 8u);
}

TEST_F(V2Command, AnExpansionThatFailsIsNullAndNoException) {
  EXPECT_EQ(run<long>(expand_fwd, 6, 8), nullptr);
  EXPECT_EQ(run<long>(expand_bwd, 6, 8), nullptr);
  EXPECT_EQ(received_, 8u);
  EXPECT_EQ(reused_, old<long>());
}

TEST_F(V2Command, AnAllocationThatFailsIsBadAlloc) {
  EXPECT_THROW(run<long>(allocate_new | expand_fwd, 6, 8), std::bad_alloc);
  EXPECT_EQ(run<long>(allocate_new | expand_fwd | nothrow_allocation, 6, 8), nullptr);
}

TEST_F(V2Command, MoreThanThereCanBeFails) {
  constexpr std::size_t most = v2_allocator<long, scripted>::max_size();
  EXPECT_THROW(run<long>(allocate_new, most + 1, most + 1), std::bad_alloc);
  EXPECT_EQ(run<long>(expand_fwd, static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)), nullptr);
  EXPECT_FALSE(heap_.seen);
  heap_.answer = {{heap_.old_block.data(), 64}, true};
  EXPECT_NE(run<long>(expand_fwd, 8, most + 1), nullptr) << "what is preferred need not be had";
  EXPECT_EQ(heap_.seen->preferred, most * sizeof(long));
}

TEST_F(V2Command, AShrinkIsToAMostOfWholeObjects) {
  heap_.answer = {{heap_.old_block.data(), 30}, true};
  EXPECT_EQ(run<triple>(shrink_in_place | nothrow_allocation, 2, 1), old<triple>());
  EXPECT_EQ(received_, 2u);
  EXPECT_EQ(heap_.seen->limit, 35u) << "35 bytes are still two objects of 12";
  EXPECT_EQ(heap_.seen->preferred, 12u);
  EXPECT_EQ(heap_.seen->ways, shrink);
  EXPECT_NE(run<triple>(try_shrink_in_place, 2, 1), nullptr);
  EXPECT_EQ(heap_.seen->ways, try_shrink);
}

TEST_F(V2Command, AShrinkToNothingLeavesRoomForALink) {
  heap_.answer = {{heap_.old_block.data(), 8}, true};
  EXPECT_NE(run<char>(shrink_in_place, 0, 0), nullptr);
  EXPECT_EQ(heap_.seen->limit, sizeof(void*));
  EXPECT_EQ(heap_.seen->preferred, sizeof(void*));
}

TEST_F(V2Command, AShrinkThatFailsIsNullAndNoOtherBlock) {
  EXPECT_EQ(run<long>(shrink_in_place, 2, 1), nullptr);
  EXPECT_EQ(run<long>(shrink_in_place | nothrow_allocation, 2, 1), nullptr);
  EXPECT_EQ(heap_.allocations, 0);
}

TEST_F(V2Command, WhatIsDisabledIsNotDone) {
  heap_.answer = {{heap_.old_block.data(), 64}, true};
  EXPECT_NE((run<long, expand_bwd>(allocate_new | expand_fwd | expand_bwd, 6, 8)), nullptr);
  EXPECT_EQ(heap_.seen->ways, resize_way::allocate_new | expand_forward);
  heap_.seen.reset();
  EXPECT_EQ((run < long, expand_fwd | expand_bwd > (expand_fwd, 6, 8)), nullptr);
  EXPECT_EQ((run<long, shrink_in_place>(shrink_in_place, 2, 1)), nullptr);
  EXPECT_EQ((run<long, allocate_new>(expand_fwd | allocate_new, 6, 8)), old<long>());
  heap_.answer = {};
  EXPECT_THROW((run<long, allocate_new>(expand_fwd | allocate_new, 6, 8)), std::bad_alloc);
  EXPECT_EQ(heap_.allocations, 0);
}

TEST_F(V2Command, DisabledExpansionsLeaveANewBlock) {
  EXPECT_NE((run < long, expand_fwd | expand_bwd > (allocate_new | expand_fwd | expand_bwd, 6, 8)), nullptr);
  EXPECT_EQ(reused_, nullptr);
  EXPECT_FALSE(heap_.seen);
  EXPECT_EQ(heap_.allocations, 1);
}

// --- blocks of any heap -------------------------------------------------------------------------------

template <class Heap>
class V2Allocator : public testing::Test {
 protected:
  ~V2Allocator() override { EXPECT_EQ(heap_.statistics().blocks.live, 0u); }
  stats<Heap> heap_;
};

using heaps = testing::Types<monotonic, multipool, multipool_over_monotonic, guarded<multipool>>;
TYPED_TEST_SUITE(V2Allocator, heaps);

TYPED_TEST(V2Allocator, CarriesStandardContainers) {
  using heap = stats<TypeParam>;
  std::vector<int, v2_allocator<int, heap>> numbers(this->heap_);
  std::list<char, v2_allocator<char, heap>> list(this->heap_);
  std::map<int, int, std::less<>, v2_allocator<std::pair<const int, int>, heap>> map(this->heap_);
  for (int i = 0; i < 1000; ++i) {
    numbers.push_back(i);
    list.push_back('x');
    map.emplace(i, i);
  }
  EXPECT_EQ(numbers[999], 999);
  EXPECT_EQ(map.at(77), 77);
}

TYPED_TEST(V2Allocator, OneObjectIsAnArrayOfOne) {
  v2_allocator<char, stats<TypeParam>> chars(this->heap_);
  for (int i = 0; i < 10; ++i) {
    char* const one = chars.allocate_one();
    char* const array = chars.allocate(1);
    chars.deallocate(one, 1);
    chars.deallocate_one(array);
  }
}

TYPED_TEST(V2Allocator, BlocksOfEverySizeCanBeLinked) {
  using chars = v2_allocator<char, stats<TypeParam>>;
  chars allocator(this->heap_);
  typename chars::multiallocation_chain chain;
  allocator.allocate_individual(100, chain);
  chain.push_front(allocator.allocate_one());
  chain.push_back(allocator.allocate(1));
  EXPECT_EQ(chain.size(), 102u);
  allocator.deallocate(chain.pop_front(), 1);
  allocator.deallocate_individual(chain);
  EXPECT_TRUE(chain.empty());
  allocator.deallocate_individual(chain);
}

TYPED_TEST(V2Allocator, ArraysOfOneLengthAndOfMany) {
  using longs = v2_allocator<long, stats<TypeParam>>;
  longs allocator(this->heap_);
  typename longs::multiallocation_chain chain;
  allocator.allocate_many(7, 3, chain);
  const std::size_t lengths[] = {1, 50, 0, 3};
  allocator.allocate_many(lengths, 4, chain);
  ASSERT_EQ(chain.size(), 7u);
  for (const std::size_t length : {7u, 7u, 7u, 1u, 50u, 0u, 3u}) {
    long* const p = chain.pop_front();
    std::uninitialized_fill_n(p, length, -1L);
    allocator.deallocate(p, length);
  }
}

TYPED_TEST(V2Allocator, MoreMayBeReceivedAndGivenBack) {
  v2_allocator<int, stats<TypeParam>> ints(this->heap_);
  for (std::size_t wished = 0; wished < 200; wished += 7) {
    const auto [first, count] = ints.allocate_at_least(wished);
    ASSERT_GE(count, wished);
    std::uninitialized_fill_n(first, count, 1);
    ints.deallocate(first, count);
  }
}

TYPED_TEST(V2Allocator, TooManyObjectsAreNoBlocks) {
  using longs = v2_allocator<long, stats<TypeParam>>;
  longs allocator(this->heap_);
  typename longs::multiallocation_chain chain;
  constexpr std::size_t most = longs::max_size();
  const std::size_t lengths[] = {1, most + 1};
  EXPECT_THROW((void)allocator.allocate(most + 1), std::bad_array_new_length);
  EXPECT_THROW((void)allocator.allocate(most), std::bad_alloc);
  EXPECT_THROW(allocator.allocate_many(most + 1, 1, chain), std::bad_array_new_length);
  EXPECT_THROW(allocator.allocate_many(lengths, 2, chain), std::bad_alloc);
  EXPECT_THROW(allocator.allocate_many(most, 2, chain), std::bad_alloc);
  EXPECT_TRUE(chain.empty());
}

TYPED_TEST(V2Allocator, IsEqualWhereTheHeapIsTheSame) {
  stats<TypeParam> other;
  const v2_allocator<int, stats<TypeParam>> a(this->heap_);
  const v2_allocator<char, stats<TypeParam>> b(a);
  EXPECT_TRUE(a == b);
  EXPECT_TRUE((a != v2_allocator<int, stats<TypeParam>>(other)));
}

TYPED_TEST(V2Allocator, OverAlignedObjectsAreAligned) {
  struct alignas(256) wide {
    char bytes[256];
  };
  using wides = v2_allocator<wide, stats<TypeParam>>;
  wides allocator(this->heap_);
  typename wides::multiallocation_chain chain;
  allocator.allocate_individual(5, chain);
  while (!chain.empty()) {
    wide* const p = chain.pop_front();
    EXPECT_TRUE(is_aligned(p, 256));
    allocator.deallocate_one(p);
  }
}

template <class Heap>
class V2AllocatorOfAHeapThatMeasures : public testing::Test {
 protected:
  Heap heap_;
};

using measuring = testing::Types<guarded<multipool>, best_fit, locked<best_fit>>;
TYPED_TEST_SUITE(V2AllocatorOfAHeapThatMeasures, measuring);

TYPED_TEST(V2AllocatorOfAHeapThatMeasures, KnowsSizesAndEndsArraysTogether) {
  using longs = v2_allocator<long, TypeParam>;
  longs allocator(this->heap_);
  typename longs::multiallocation_chain chain;
  const std::size_t lengths[] = {5, 1, 90};
  allocator.allocate_many(lengths, 3, chain);
  EXPECT_GE(allocator.size(&*chain.begin()), 5u);
  chain.push_back(allocator.allocate(17));
  EXPECT_GE(allocator.size(&*chain.last()), 17u);
  chain.push_back(allocator.allocate_one());
  allocator.deallocate_many(chain);
  EXPECT_TRUE(chain.empty());
  EXPECT_EQ(this->heap_.usage().granted, 0u);
  EXPECT_FALSE(this->heap_.validate());
}

TYPED_TEST(V2AllocatorOfAHeapThatMeasures, AnArrayGrowsAndShrinksWithItsContents) {
  v2_allocator<int, TypeParam> ints(this->heap_);
  std::size_t capacity = 10;
  int* block = ints.allocate(capacity);
  std::iota(block, block + capacity, 0);
  while (capacity < 5000) {
    std::size_t size = 2 * capacity;
    int* reuse = block;
    int* const grown =
        ints.allocation_command(allocate_new | expand_fwd | expand_bwd, capacity + 1, size, reuse);
    ASSERT_GE(size, capacity + 1);
    if (grown != block) std::memmove(grown, block, capacity * sizeof(int));
    if (reuse == nullptr) ints.deallocate(block, capacity);
    block = grown;
    std::iota(block + capacity, block + size, static_cast<int>(capacity));
    capacity = size;
  }
  std::size_t size = 100;
  int* reuse = block;
  ASSERT_EQ(ints.allocation_command(try_shrink_in_place, capacity, size, reuse), block);
  ASSERT_GE(size, 100u);
  for (std::size_t i = 0; i != size; ++i) ASSERT_EQ(block[i], static_cast<int>(i));
  ints.deallocate(block, size);
  EXPECT_EQ(this->heap_.usage().granted, 0u);
  EXPECT_FALSE(this->heap_.validate());
}

}  // namespace
}  // namespace mallard
