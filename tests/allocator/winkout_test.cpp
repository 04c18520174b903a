#include "mallard/allocator/winkout.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <memory_resource>
#include <scoped_allocator>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "mallard/core/align.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

constexpr const char* long_text = "a text that is too long to stand inside of a string";

// Counts the ends of its objects; promises that nobody misses them.
struct counts_ends {
  static inline int ends = 0;
  explicit counts_ends(int v = 7) : value(v) {}
  counts_ends(const counts_ends&) = delete;
  counts_ends& operator=(const counts_ends&) = delete;
  ~counts_ends() { ++ends; }
  int value;
};

// Fails to be built, once `left` others have been.
struct fragile {
  static inline int left = 0;
  static inline int alive = 0;
  fragile() {
    if (left-- == 0) throw std::runtime_error("fragile");
    ++alive;
  }
  fragile(const fragile&) = delete;
  fragile& operator=(const fragile&) = delete;
  ~fragile() { --alive; }
};

// Owns memory of its heap and hands its allocator on.
template <class Allocator>
struct order {
  using allocator_type = Allocator;
  using text = std::basic_string<char, std::char_traits<char>,
                                 typename std::allocator_traits<Allocator>::template rebind_alloc<char>>;
  order(const char* n, const Allocator& a) : name(n, a) {}
  text name;
};

}  // namespace

template <>
inline constexpr bool winkout_safe<counts_ends> = true;
template <>
inline constexpr bool winkout_safe<fragile> = true;
template <class Allocator>
inline constexpr bool winkout_safe<order<Allocator>> = true;

namespace {

template <class Heap>
class Winkout : public testing::Test {
 protected:
  template <class T>
  using in = allocator<T, Heap>;
  using string = std::basic_string<char, std::char_traits<char>, in<char>>;

  template <class H>
  static std::size_t held_below(H& heap) {
    if constexpr (counted<H>)
      return heap.held();
    else
      return held_below(heap.upstream());
  }

  Heap heap_;
};

using heaps =
    testing::Types<monotonic, multipool, multipool_over_monotonic, stack_arena<64>, synchronized_multipool>;
TYPED_TEST_SUITE(Winkout, heaps);

TYPED_TEST(Winkout, RunsNoDestructorAndGivesEveryByteBack) {
  counts_ends::ends = 0;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(winkout<counts_ends>(this->heap_, i).value, i);
  EXPECT_GT(this->held_below(this->heap_), 0u);
  this->heap_.release();
  EXPECT_EQ(counts_ends::ends, 0);
  EXPECT_EQ(this->held_below(this->heap_), 0u);
}

TYPED_TEST(Winkout, TakesTheMemoryOfNestedContainersAlong) {
  using text = typename TestFixture::string;
  using list = std::list<text, std::scoped_allocator_adaptor<allocator<text, TypeParam>>>;
  using map = std::map<int, list, std::less<>,
                       std::scoped_allocator_adaptor<allocator<std::pair<const int, list>, TypeParam>>>;
  auto& table = winkout<map>(this->heap_);
  for (int i = 0; i < 1000; ++i) table[i % 10].emplace_back(long_text);
  EXPECT_EQ(table.at(3).back(), long_text);
  EXPECT_TRUE(this->heap_.owns(&table) && this->heap_.owns(&table.at(3)));
  EXPECT_TRUE(this->heap_.owns(table.at(3).back().data()));
  EXPECT_FALSE(this->heap_.validate());
  this->heap_.release();
  EXPECT_EQ(this->held_below(this->heap_), 0u);
}

TYPED_TEST(Winkout, BuildsContainersOverAResource) {
  resource<TypeParam> memory;
  auto& table = winkout<std::pmr::unordered_map<int, std::pmr::vector<std::pmr::string>>>(memory);
  for (int i = 0; i < 1000; ++i) table[i % 10].emplace_back(long_text);
  EXPECT_EQ(table.get_allocator().resource(), &memory);
  EXPECT_EQ(table.at(3).back().get_allocator().resource(), &memory);
  EXPECT_TRUE(memory.heap().owns(&table) && memory.heap().owns(table.at(3).back().data()));
  memory.heap().release();
  EXPECT_EQ(this->held_below(memory.heap()), 0u);
}

TYPED_TEST(Winkout, PassesArgumentsOnBeforeTheAllocator) {
  using text = typename TestFixture::string;
  EXPECT_EQ(winkout<text>(this->heap_, 3u, 'x'), "xxx");
  text original(long_text, this->heap_);
  EXPECT_EQ(winkout<text>(this->heap_, original), long_text);
  auto& moved = winkout<text>(this->heap_, std::move(original));
  EXPECT_EQ(moved, long_text);
  EXPECT_EQ(&moved.get_allocator().heap(), &this->heap_);
  auto& own = winkout<order<allocator<int, TypeParam>>>(this->heap_, long_text);
  EXPECT_TRUE(this->heap_.owns(own.name.data()));
}

TYPED_TEST(Winkout, BuildsBothHalvesOfAPairInTheHeap) {
  using text = typename TestFixture::string;
  auto& pair = winkout<std::pair<text, int>>(this->heap_, long_text, 5);
  EXPECT_EQ(pair.second, 5);
  EXPECT_TRUE(this->heap_.owns(pair.first.data()));
}

TYPED_TEST(Winkout, AlignsAsTheTypeAsks) {
  struct alignas(512) wide {
    char bytes[512];
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(is_aligned(&winkout<wide>(this->heap_), 512));
  EXPECT_TRUE(is_aligned(winkout<wide[]>(this->heap_, 3).data(), 512));
}

TYPED_TEST(Winkout, BuildsArraysWithoutDestructors) {
  using text = typename TestFixture::string;
  counts_ends::ends = 0;
  for (const int n : winkout<int[]>(this->heap_, 1000)) EXPECT_EQ(n, 0);
  for (const counts_ends& w : winkout<counts_ends[]>(this->heap_, 10)) EXPECT_EQ(w.value, 7);
  const auto lines = winkout<text[]>(this->heap_, 10);
  lines.back() = long_text;
  EXPECT_EQ(lines.size(), 10u);
  EXPECT_TRUE(this->heap_.owns(lines.back().data()));
  this->heap_.release();
  EXPECT_EQ(counts_ends::ends, 0);
  EXPECT_EQ(this->held_below(this->heap_), 0u);
}

TYPED_TEST(Winkout, AnEmptyArrayTakesNoBlock) {
  EXPECT_TRUE(winkout<int[]>(this->heap_, 0).empty());
  EXPECT_EQ(this->held_below(this->heap_), 0u);
}

TYPED_TEST(Winkout, ThrowsBadAllocWhereTheHeapRefuses) {
  EXPECT_THROW((void)winkout<int[]>(this->heap_, SIZE_MAX), std::bad_array_new_length);
  EXPECT_THROW((void)winkout<char[]>(this->heap_, max_request), std::bad_alloc);
}

TEST(WinkoutThatThrows, GivesTheBlockBack) {
  multipool heap;
  fragile::left = 0;
  EXPECT_THROW((void)winkout<fragile>(heap), std::runtime_error);
  EXPECT_EQ(heap.usage().granted, 0u);
  resource<multipool> memory;
  fragile::left = 0;
  EXPECT_THROW((void)winkout<fragile>(memory), std::runtime_error);
  EXPECT_EQ(memory.heap().usage().granted, 0u);
}

TEST(WinkoutThatThrows, DestroysWhatWasBuiltOfAnArray) {
  multipool heap;
  fragile::left = 5;
  EXPECT_THROW((void)winkout<fragile[]>(heap, 8), std::runtime_error);
  EXPECT_EQ(fragile::alive, 0);
  EXPECT_EQ(heap.usage().granted, 0u);
}

TEST(WinkoutThatThrows, GivesBackWhatTheConstructorTookWhereverItFails) {
  multipool heap;
  for (int n = 0; n < 8; ++n) {
    fragile::left = n;
    EXPECT_THROW(((void)winkout<std::list<fragile, allocator<fragile, multipool>>>(heap, 8u)),
                 std::runtime_error);
    EXPECT_EQ(fragile::alive, 0);
    EXPECT_EQ(heap.usage().granted, 0u);
  }
}

TEST(WinkoutInAResource, TakesAnyWithRelease) {
  std::pmr::monotonic_buffer_resource memory;
  auto& numbers = winkout<std::pmr::vector<int>>(memory, 100u);
  EXPECT_EQ(numbers.get_allocator().resource(), &memory);
  EXPECT_EQ(numbers.size(), 100u);
  memory.release();
}

TEST(WinkoutInAPool, BuildsObjectsOfItsSize) {
  pool heap;
  counts_ends::ends = 0;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(winkout<counts_ends>(heap, i).value, i);
  heap.release();
  EXPECT_EQ(counts_ends::ends, 0);
  EXPECT_EQ(heap.upstream().held(), 0u);
}

TEST(WinkoutInABuffer, EndsWithBadAllocAndGoesOnAfterClear) {
  alignas(16) std::byte bytes[1024];
  basic_monotonic<fixed_buffer> heap(bytes, sizeof bytes);
  EXPECT_THROW((void)winkout<char[]>(heap, 2000), std::bad_alloc);
  EXPECT_EQ(winkout<char[]>(heap, 900).size(), 900u);
  EXPECT_THROW((void)winkout<char[]>(heap, 900), std::bad_alloc);
  heap.clear();
  EXPECT_EQ(winkout<char[]>(heap, 900).size(), 900u);
}

}  // namespace
}  // namespace mallard
