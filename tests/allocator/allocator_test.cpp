#include "mallard/allocator/allocator.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

using traits = std::allocator_traits<allocator<int, multipool>>;
static_assert(std::is_same_v<traits::rebind_alloc<char>, allocator<char, multipool>>);
static_assert(std::is_same_v<traits::pointer, int*>);
static_assert(!traits::propagate_on_container_copy_assignment::value);
static_assert(!traits::propagate_on_container_move_assignment::value);
static_assert(!traits::propagate_on_container_swap::value);
static_assert(!traits::is_always_equal::value);
static_assert(sizeof(allocator<int, multipool>) == sizeof(void*));

template <class Heap>
class Allocator : public testing::Test {
 protected:
  Heap heap_;
};

using heaps = testing::Types<monotonic, multipool, multipool_over_monotonic>;
TYPED_TEST_SUITE(Allocator, heaps);

TYPED_TEST(Allocator, CarriesStandardContainersThroughTheirLives) {
  using string = std::basic_string<char, std::char_traits<char>, allocator<char, TypeParam>>;
  {
    std::vector<int, allocator<int, TypeParam>> numbers(this->heap_);
    std::deque<int, allocator<int, TypeParam>> queue(this->heap_);
    std::list<string, allocator<string, TypeParam>> lines(this->heap_);
    std::set<int, std::less<>, allocator<int, TypeParam>> set(this->heap_);
    std::map<int, string, std::less<>, allocator<std::pair<const int, string>, TypeParam>> table(this->heap_);
    std::unordered_map<int, int, std::hash<int>, std::equal_to<>,
                       allocator<std::pair<const int, int>, TypeParam>>
        index(this->heap_);
    for (int i = 0; i < 2000; ++i) {
      const string text("a line that is too long for a small string", this->heap_);
      numbers.push_back(i);
      queue.push_back(i);
      lines.push_back(text);
      set.insert(i * 7 % 1000);
      table.try_emplace(i, text);
      index.emplace(i, -i);
      if (i % 2 == 0) {
        queue.pop_front();
        lines.pop_front();
        table.erase(i / 2);
      }
    }
    EXPECT_EQ(numbers[1999], 1999);
    EXPECT_EQ(queue.front(), 1000);
    EXPECT_EQ(lines.size(), 1000u);
    EXPECT_EQ(set.size(), 1000u);
    EXPECT_EQ(table.begin()->first, 1000);
    EXPECT_EQ(index.at(77), -77);
    EXPECT_TRUE(this->heap_.owns(numbers.data()) && this->heap_.owns(&lines.back()));
    EXPECT_FALSE(this->heap_.validate());
  }
  EXPECT_FALSE(this->heap_.validate());
}

TYPED_TEST(Allocator, IsEqualWhereTheHeapIsTheSame) {
  TypeParam other;
  const allocator<int, TypeParam> a(this->heap_);
  const allocator<char, TypeParam> b(a);
  EXPECT_TRUE(a == b);
  EXPECT_EQ(&b.heap(), &this->heap_);
  EXPECT_TRUE((a != allocator<int, TypeParam>(other)));
}

TYPED_TEST(Allocator, AContainerStaysWithItsHeap) {
  TypeParam other;
  using numbers = std::vector<int, allocator<int, TypeParam>>;
  const numbers original({1, 2, 3}, this->heap_);
  const numbers copy(original);  // NOLINT(performance-unnecessary-copy-initialization): it is the subject
  EXPECT_EQ(&copy.get_allocator().heap(), &this->heap_);
  numbers elsewhere(other);
  elsewhere = original;
  EXPECT_EQ(&elsewhere.get_allocator().heap(), &other);
  numbers source({4, 5}, this->heap_);
  elsewhere = std::move(source);
  EXPECT_EQ(elsewhere, (numbers({4, 5}, other)));
  EXPECT_TRUE(other.owns(elsewhere.data()));
}

TYPED_TEST(Allocator, ReceivesAtLeastWhatItAsksFor) {
  allocator<int, TypeParam> ints(this->heap_);
  const auto received = ints.allocate_at_least(33);
  EXPECT_GE(received.count, 33u);
  for (std::size_t i = 0; i < received.count; ++i) received.ptr[i] = static_cast<int>(i);
  ints.deallocate(received.ptr, received.count);
  EXPECT_FALSE(this->heap_.validate());
}

TYPED_TEST(Allocator, ThrowsWhatTheStandardSays) {
  allocator<int, TypeParam> ints(this->heap_);
  EXPECT_THROW((void)ints.allocate(static_cast<std::size_t>(-1)), std::bad_array_new_length);
  EXPECT_THROW((void)ints.allocate(ints.max_size() + 1), std::bad_array_new_length);
  EXPECT_THROW((void)ints.allocate(ints.max_size()), std::bad_alloc);
  std::vector<int, allocator<int, TypeParam>> numbers({1, 2, 3}, this->heap_);
  EXPECT_THROW(numbers.reserve(ints.max_size() + 1), std::length_error);
  EXPECT_EQ(numbers.size(), 3u);
}

TYPED_TEST(Allocator, GivesOverAlignedObjectsTheirAlignment) {
  struct alignas(256) wide {
    char bytes[256];
  };
  std::list<wide, allocator<wide, TypeParam>> list(this->heap_);
  for (int i = 0; i < 20; ++i) list.emplace_back();
  for (const wide& w : list) EXPECT_TRUE(is_aligned(&w, 256));
}

TEST(AllocatorOverABuffer, EndsWithBadAllocAndGoesOnAfterwards) {
  alignas(64) std::byte bytes[4096];
  basic_multipool<fixed_buffer> heap(bytes, sizeof bytes);
  std::list<int, allocator<int, basic_multipool<fixed_buffer>>> list(heap);
  EXPECT_THROW(
      {
        for (;;) list.push_back(1);
      },
      std::bad_alloc);
  EXPECT_GT(list.size(), 100u);
  list.pop_back();
  list.push_back(2);
  EXPECT_EQ(list.back(), 2);
  EXPECT_FALSE(heap.validate());
}

TEST(AllocatorOfAPool, GivesEveryNodeBack) {
  multipool heap;
  {
    std::map<int, int, std::less<>, allocator<std::pair<const int, int>, multipool>> map(heap);
    for (int i = 0; i < 1000; ++i) map.emplace(i, i);
    EXPECT_GT(heap.usage().granted, 0u);
  }
  EXPECT_EQ(heap.usage().granted, 0u);
}

TEST(AllocationResult, IsAPlaceAndACountAsThoseOfTheStandard) {
  int ints[3] = {};
  const allocation_result<int*> result{ints, 3};
  const auto [place, count] = result;
  EXPECT_EQ(place, ints);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(result.ptr, ints);
  EXPECT_EQ(result.count, 3u);
}

static_assert(!heap_handle<multipool>::propagate_on_container_copy_assignment::value);
static_assert(!heap_handle<multipool>::propagate_on_container_move_assignment::value);
static_assert(!heap_handle<multipool>::propagate_on_container_swap::value);
static_assert(!heap_handle<multipool>::is_always_equal::value);
static_assert(sizeof(heap_handle<multipool>) == sizeof(void*));
static_assert(std::is_trivially_copyable_v<heap_handle<multipool>>);
static_assert(!std::is_convertible_v<multipool&, heap_handle<multipool>>);

TEST(HeapHandle, IsEqualWhereTheHeapIsTheSame) {
  multipool heap;
  multipool other;
  const heap_handle<multipool> a(heap);
  const heap_handle<multipool> copy(a);
  EXPECT_EQ(&copy.heap(), &heap);
  EXPECT_TRUE(a == copy);
  EXPECT_TRUE(a != heap_handle<multipool>(other));
}

}  // namespace
}  // namespace mallard
