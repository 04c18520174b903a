// That Boost's containers really expand, shrink and allocate in bursts through v2_allocator.
//
//     container --> v2_allocator --> counted_operations: allocations 1, forward 23, ... --> Heap
#include <gtest/gtest.h>

#include <array>
#include <boost/container/flat_map.hpp>
#include <boost/container/list.hpp>
#include <boost/container/map.hpp>
#include <boost/container/set.hpp>
#include <boost/container/slist.hpp>
#include <boost/container/stable_vector.hpp>
#include <boost/container/string.hpp>
#include <boost/container/vector.hpp>
#include <cstddef>
#include <functional>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/heap/best_fit.hpp"

namespace mallard::containers {
namespace {

namespace its = boost::container;

struct operations {
  int allocations = 0;  // new blocks, one at a time: by allocate, or because a block could not grow in place
  int deallocations = 0;
  int forward = 0;   // expansions that kept the begin of the block
  int backward = 0;  // expansions that moved it
  int shrinks = 0;   // that made a block smaller
  int bursts = 0;
  std::size_t in_bursts = 0;  // blocks allocated in them
  int burst_ends = 0;
  std::size_t ended_in_bursts = 0;

  friend bool operator==(const operations&, const operations&) = default;
  friend void PrintTo(const operations& o, std::ostream* out) {
    *out << "allocations " << o.allocations << ", deallocations " << o.deallocations << ", forward "
         << o.forward << ", backward " << o.backward << ", shrinks " << o.shrinks << ", bursts " << o.bursts
         << " of " << o.in_bursts << ", ends " << o.burst_ends << " of " << o.ended_in_bursts;
  }
};

// What containers really do with a heap that can do everything.
template <class Heap>
  requires resizable<Heap> && measurable<Heap> && burst<Heap>
class counted_operations {
 public:
  operations done;

  [[nodiscard]] Heap& upstream() noexcept { return heap_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    ++done.allocations;
    return heap_.allocate(size, align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    ++done.deallocations;
    heap_.deallocate(p, size, align);
  }

  static constexpr resize_way ways = Heap::ways;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    const std::size_t before = heap_.usable_size(request.data);
    const resize_result result = heap_.resize(request);
    if (!result.memory) return result;
    if (!result.reused)
      ++done.allocations;
    else if (result.memory.data != request.data)
      ++done.backward;
    else if (result.memory.size > before)
      ++done.forward;
    else if (result.memory.size < before)
      ++done.shrinks;
    return result;
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept { return heap_.usable_size(p); }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    ++done.bursts;
    done.in_bursts += count;
    return heap_.allocate_burst(out, count, size, align, contiguous);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    ++done.burst_ends;
    done.ended_in_bursts += blocks.size();
    heap_.deallocate_burst(blocks, size, align);
  }

 private:
  Heap heap_;
};

// One chunk is enough for all of a test, so that nothing but the block in question is at its end.
using roomy = basic_best_fit<default_source, constant<std::size_t{4} << 20>>;
using heap_type = counted_operations<roomy>;

// One chunk that a hole and a small vector behind it nearly fill.
constexpr std::size_t hole_size = 120'000;
using narrow = counted_operations<basic_best_fit<default_source, constant<std::size_t{140} << 10>>>;

constexpr allocation_type no_expansion = commands::expand_fwd | commands::expand_bwd;

template <class T, allocation_type Disabled = 0>
using vector = its::vector<T, v2_allocator<T, heap_type, Disabled>>;

class BoostOperations : public testing::Test {
 protected:
  ~BoostOperations() override { EXPECT_FALSE(heap_.upstream().validate()); }

  // What has been done since the last call.
  operations done() { return std::exchange(heap_.done, {}); }

  heap_type heap_;
  std::vector<int> numbers_ = [] {
    std::vector<int> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }();
};

constexpr int pushes = 10'000;

TEST(BoostOperationsByDefault, TenThousandPushBacksAreOneAllocationAndExpansions) {
  counted_operations<best_fit> heap;
  for (int vectors = 0; vectors != 2; ++vectors) {
    heap.done = {};
    {
      its::vector<int, v2_allocator<int, counted_operations<best_fit>>> v(heap);
      for (int i = 0; i != pushes; ++i) v.push_back(i);
      EXPECT_EQ(heap.done, (operations{.allocations = 1, .forward = heap.done.forward}));
      EXPECT_GT(heap.done.forward, 10);
      for (int i = 0; i != pushes; ++i) EXPECT_EQ(v[static_cast<std::size_t>(i)], i);
    }
    EXPECT_EQ(heap.done.deallocations, 1);
  }
}

TEST_F(BoostOperations, WithExpansionsDisabledEachIsAnAllocation) {
  vector<int, no_expansion> v(heap_);
  for (int i = 0; i != pushes; ++i) v.push_back(i);
  const operations pushed = done();
  EXPECT_GT(pushed.allocations, 10);
  EXPECT_EQ(pushed.deallocations, pushed.allocations - 1);
  EXPECT_EQ(pushed.forward + pushed.backward, 0);
}

// A vector of `few` behind a hole grows to `many`; how.
template <class T>
operations grow_into_the_hole(const T& value, std::size_t few, std::size_t many) {
  narrow heap;
  void* const hole = heap.allocate(hole_size, 16).data;
  its::vector<T, v2_allocator<T, narrow, commands::expand_fwd>> v(heap);
  v.assign(few, value);
  const T* const before = v.data();
  heap.deallocate(hole, hole_size, 16);
  heap.done = {};
  while (v.size() != many) v.push_back(value);
  EXPECT_LT(v.data(), before);
  EXPECT_EQ((before - v.data()) * static_cast<std::ptrdiff_t>(sizeof(T)),
            reinterpret_cast<const char*>(before) - reinterpret_cast<const char*>(v.data()))
      << "it moved by whole objects";
  for (const T& object : v) EXPECT_EQ(object, value);
  return heap.done;
}

TEST(BoostOperationsBackward, AVectorTakesTheHoleBeforeIt) {
  const operations grown = grow_into_the_hole<int>(77, 1000, 20'000);
  EXPECT_GT(grown.backward, 3);
  EXPECT_EQ(grown, operations{.backward = grown.backward});
}

// Objects whose size is no multiple of the heap's alignment move by whole objects all the same.
TEST(BoostOperationsBackward, ObjectsOfTwelveBytesMoveDownWhole) {
  const operations grown = grow_into_the_hole<std::array<int, 3>>({1, 2, 3}, 100, 5000);
  EXPECT_GT(grown.backward, 3);
  EXPECT_EQ(grown, operations{.backward = grown.backward});
}

TEST_F(BoostOperations, ShrinkToFitShrinksInPlace) {
  vector<int> v(heap_);
  v.resize(pushes);
  const int* const begin = v.data();
  static_cast<void>(done());
  constexpr int step = 5;
  while (!v.empty()) {
    v.erase(v.end() - step, v.end());
    v.shrink_to_fit();
    ASSERT_TRUE(v.empty() || v.data() == begin);
  }
  const operations shrunk = done();
  EXPECT_EQ(shrunk.allocations, 0);
  EXPECT_EQ(shrunk.deallocations, 1) << "of what is empty at the end";
  EXPECT_GT(shrunk.shrinks, pushes / step * 9 / 10) << "20 bytes are not always a step of the heap's";
}

TEST_F(BoostOperations, StringsExpandAndShrinkInPlace) {
  using string = its::basic_string<char, std::char_traits<char>, v2_allocator<char, heap_type>>;
  string s(heap_);
  for (int i = 0; i != pushes; ++i) s.push_back('x');
  s.resize(100);
  s.shrink_to_fit();
  const operations made = done();
  EXPECT_EQ(made.allocations, 1);
  EXPECT_GT(made.forward, 5);
  EXPECT_EQ(made.shrinks, 1);
  EXPECT_LT(s.capacity(), 150u);
}

TEST_F(BoostOperations, FlatMapsExpandInPlace) {
  using pair = std::pair<int, int>;
  its::flat_map<int, int, std::less<>, v2_allocator<pair, heap_type>> map(
      v2_allocator<pair, heap_type>{heap_});
  for (const int n : numbers_) map.emplace(n, n);
  const operations made = done();
  EXPECT_EQ(made.allocations, 1);
  EXPECT_GT(made.forward, 5);
}

template <class T>
using v2 = v2_allocator<T, heap_type>;

TEST_F(BoostOperations, RangesInsertedIntoListsAreBursts) {
  its::list<int, v2<int>> list(heap_);
  list.insert(list.end(), numbers_.begin(), numbers_.end());
  EXPECT_EQ(done(), (operations{.bursts = 1, .in_bursts = 1000}));
  list.clear();
  EXPECT_EQ(done(), (operations{.burst_ends = 1, .ended_in_bursts = 1000}));
  its::slist<int, v2<int>> slist(heap_);
  slist.insert_after(slist.before_begin(), numbers_.begin(), numbers_.end());
  EXPECT_EQ(done(), (operations{.bursts = 1, .in_bursts = 1000}));
}

TEST_F(BoostOperations, ErasedRangesAreBursts) {
  its::list<int, v2<int>> list(heap_);
  for (const int n : numbers_) list.push_back(n);
  EXPECT_EQ(done().allocations, 1000);
  list.erase(list.begin(), std::next(list.begin(), 600));
  EXPECT_EQ(done(), (operations{.burst_ends = 1, .ended_in_bursts = 600}));
}

TEST_F(BoostOperations, OrderedRangesAreBurstsForTreesToo) {
  using pair = std::pair<const int, int>;
  using map = its::map<int, int, std::less<>, v2<pair>>;
  using set = its::set<int, std::less<>, v2<int>>;
  std::vector<std::pair<int, int>> pairs;
  for (const int n : numbers_) pairs.emplace_back(n, n);
  {
    const map m(its::ordered_unique_range, pairs.begin(), pairs.end(), std::less<>(), v2<pair>(heap_));
    const set s(its::ordered_unique_range, numbers_.begin(), numbers_.end(), std::less<>(), v2<int>(heap_));
    EXPECT_EQ(done(), (operations{.bursts = 2, .in_bursts = 2000}));
    EXPECT_EQ(m.at(77) + *s.rbegin(), 77 + 999);
  }
  EXPECT_EQ(done(), (operations{.burst_ends = 2, .ended_in_bursts = 2000}));
}

TEST_F(BoostOperations, AStableVectorReservesItsNodesInABurst) {
  its::stable_vector<int, v2<int>> v(heap_);
  v.reserve(1000);
  const operations reserved = done();
  EXPECT_EQ(reserved.bursts, 1);
  EXPECT_EQ(reserved.in_bursts, 1000u);
  v.assign(numbers_.begin(), numbers_.end());
  EXPECT_EQ(done(), operations{});
}

// The control: with a plain allocator nothing of it happens.
TEST_F(BoostOperations, AVersionOneAllocatorOnlyAllocates) {
  using ints = allocator<int, heap_type>;
  its::vector<int, ints> v{ints(heap_)};
  its::list<int, ints> list{ints(heap_)};
  for (int i = 0; i != pushes; ++i) v.push_back(i);
  list.insert(list.end(), numbers_.begin(), numbers_.end());
  v.resize(10);
  v.shrink_to_fit();
  operations made = done();
  EXPECT_GT(made.allocations, 1010);
  made.allocations = made.deallocations = 0;
  EXPECT_EQ(made, operations{});
}

}  // namespace
}  // namespace mallard::containers
