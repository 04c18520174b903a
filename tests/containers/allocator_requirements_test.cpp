// What the standard asks of an allocator class, of allocator<T, Heap> for every heap as it is shipped.
#include <gtest/gtest.h>

#include <concepts>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <type_traits>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/resource/resource.hpp"

namespace mallard::containers {
namespace {

// Of a type that is not complete: an allocator may be named, copied and asked for its relatives then.
struct incomplete;

template <class A, class Other>
concept allocator_class =
    std::is_nothrow_copy_constructible_v<A> && std::is_nothrow_move_constructible_v<A> &&
    std::is_nothrow_copy_assignable_v<A> && std::is_nothrow_constructible_v<A, const Other&> &&
    std::is_nothrow_convertible_v<Other, A> && std::is_trivially_destructible_v<A> &&
    requires(A a, const A& c, const Other& other, typename A::value_type* p) {
      { a.allocate(1) } -> std::same_as<typename A::value_type*>;
      { a.allocate_at_least(1).ptr } -> std::same_as<typename A::value_type*&&>;
      { a.deallocate(p, 1) } noexcept -> std::same_as<void>;
      { c == c } noexcept -> std::same_as<bool>;
      { c != c } noexcept -> std::same_as<bool>;
      { c == other } noexcept -> std::same_as<bool>;
    };

template <class Heap>
constexpr bool all_that_types_say() {
  using ints = allocator<int, Heap>;
  using bytes = allocator<char, Heap>;
  using traits = std::allocator_traits<ints>;
  static_assert(heap<Heap> && !std::copyable<Heap> && !std::movable<Heap>);
  static_assert(allocator_class<ints, bytes> && allocator_class<bytes, ints>);
  static_assert(std::is_trivially_copyable_v<ints> && sizeof(ints) == sizeof(void*));
  static_assert(std::same_as<typename traits::value_type, int> &&
                std::same_as<typename traits::pointer, int*>);
  static_assert(std::same_as<typename traits::const_pointer, const int*>);
  static_assert(std::same_as<typename traits::size_type, std::size_t>);
  static_assert(std::same_as<typename traits::template rebind_alloc<char>, bytes>);
  static_assert(std::same_as<typename std::allocator_traits<bytes>::template rebind_alloc<int>, ints>);
  static_assert(!traits::propagate_on_container_copy_assignment::value);
  static_assert(!traits::propagate_on_container_move_assignment::value);
  static_assert(!traits::propagate_on_container_swap::value && !traits::is_always_equal::value);
  static_assert(ints::max_size() == max_request / sizeof(int) && bytes::max_size() == max_request);
  static_assert(std::is_nothrow_copy_constructible_v<allocator<incomplete, Heap>>);
  static_assert(std::uses_allocator_v<std::vector<int, ints>, bytes>);
  static_assert(std::is_nothrow_move_constructible_v<std::vector<int, ints>>);
  static_assert(std::is_nothrow_swappable_v<std::vector<int, ints>>);
  static_assert(std::convertible_to<resource<Heap>*, std::pmr::polymorphic_allocator<int>>);
  return true;
}

static_assert(all_that_types_say<best_fit>() && all_that_types_say<monotonic>() &&
              all_that_types_say<multipool>() && all_that_types_say<multipool_over_monotonic>() &&
              all_that_types_say<pool>() && all_that_types_say<stack_arena<1024>>() &&
              all_that_types_say<synchronized_multipool>() && all_that_types_say<synchronized_pool>() &&
              all_that_types_say<locked<multipool>>());

template <class Heap>
class AllocatorRequirements : public testing::Test {
 protected:
  Heap heap_;
};

using heaps = testing::Types<best_fit, monotonic, multipool, multipool_over_monotonic, stack_arena<1024>,
                             synchronized_multipool, locked<multipool>>;
TYPED_TEST_SUITE(AllocatorRequirements, heaps);

// Containers whose elements hold such containers again: the element is incomplete where they are named.
template <class Heap>
struct tree {
  template <class T>
  using in = allocator<T, Heap>;
  explicit tree(Heap& heap) : branches(heap), list(heap), forward(heap) {}
  std::vector<tree, in<tree>> branches;
  std::list<tree, in<tree>> list;
  std::forward_list<tree, in<tree>> forward;
};

TYPED_TEST(AllocatorRequirements, ElementsMayHoldContainersOfTheirOwnKind) {
  tree<TypeParam> root(this->heap_);
  root.branches.emplace_back(this->heap_).list.emplace_back(this->heap_).forward.emplace_front(this->heap_);
  const tree<TypeParam> copy(root);
  EXPECT_EQ(std::distance(copy.branches[0].list.front().forward.begin(),
                          copy.branches[0].list.front().forward.end()),
            1);
}

TYPED_TEST(AllocatorRequirements, RelativesAreEqualAndFreeForEachOther) {
  allocator<int, TypeParam> ints(this->heap_);
  const allocator<char, TypeParam> chars(ints);
  allocator<int, TypeParam> back(chars);
  EXPECT_TRUE(back == ints && ints == chars && !(ints != back));
  int* const p = ints.allocate(3);
  back.deallocate(p, 3);
  EXPECT_FALSE(this->heap_.validate());
}

TYPED_TEST(AllocatorRequirements, AMovedAllocatorIsEqualToWhatItWas) {
  allocator<int, TypeParam> original(this->heap_);
  const allocator<int, TypeParam> copy(original);
  const allocator<int, TypeParam> moved(std::move(original));
  EXPECT_TRUE(moved == copy);
}

TYPED_TEST(AllocatorRequirements, ACopiedContainerIsGivenTheHeapOfTheOriginal) {
  using traits = std::allocator_traits<allocator<int, TypeParam>>;
  const allocator<int, TypeParam> ints(this->heap_);
  EXPECT_TRUE(traits::select_on_container_copy_construction(ints) == ints);
}

TYPED_TEST(AllocatorRequirements, NoElementsAreABlockToo) {
  allocator<int, TypeParam> ints(this->heap_);
  int* const p = ints.allocate(0);
  int* const q = ints.allocate(0);
  EXPECT_NE(p, q);
  ints.deallocate(p, 0);
  ints.deallocate(q, 0);
  EXPECT_FALSE(this->heap_.validate());
}

TYPED_TEST(AllocatorRequirements, MoreThanWasAskedForMayBeUsedAndGivenBack) {
  allocator<long, TypeParam> longs(this->heap_);
  for (std::size_t wished = 1; wished < 2000; wished += 7) {
    const auto [first, count] = longs.allocate_at_least(wished);
    ASSERT_GE(count, wished);
    std::uninitialized_fill_n(first, count, 1L);
    longs.deallocate(first, wished % 2 == 0 ? wished : count);
  }
  EXPECT_FALSE(this->heap_.validate());
}

}  // namespace
}  // namespace mallard::containers
