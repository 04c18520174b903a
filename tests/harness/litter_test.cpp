#include "harness/litter.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "mallard/core/align.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard::harness {
namespace {

// malloc that records its calls.
class recording_malloc {
 public:
  explicit recording_malloc(std::size_t room = std::numeric_limits<std::size_t>::max()) : room_(room) {}
  ~recording_malloc() {
    for (const auto& [data, size] : alive) std::free(data);
  }
  recording_malloc(const recording_malloc&) = delete;
  recording_malloc& operator=(const recording_malloc&) = delete;

  heap_calls calls() {
    return {this,
            [](void* self, std::size_t size) { return static_cast<recording_malloc*>(self)->allocate(size); },
            [](void* self, void* p, std::size_t size) {
              static_cast<recording_malloc*>(self)->deallocate(p, size);
            }};
  }

  std::vector<std::size_t> asked;                          // sizes, in order
  std::vector<std::pair<std::size_t, std::size_t>> freed;  // which of these, and its size, in order
  std::map<void*, std::size_t> alive;
  bool misused = false;

 private:
  void* allocate(std::size_t size) {
    if (asked.size() == room_) return nullptr;
    void* const p = std::malloc(size);
    alive[p] = size;
    index_of_[p] = asked.size();
    asked.push_back(size);
    return p;
  }
  void deallocate(void* p, std::size_t size) {
    const auto found = alive.find(p);
    misused = misused || found == alive.end() || found->second != size;
    freed.emplace_back(index_of_[p], size);
    alive.erase(p);
    std::free(p);
  }

  std::size_t room_;
  std::map<void*, std::size_t> index_of_;
};

constexpr std::array<size_weight, 3> mixed{{{16, 1}, {100, 2}, {3000, 7}}};

litter_plan plan_of(std::size_t live, std::size_t times, std::uint64_t seed = 1) {
  return {mixed, live, times, seed};
}

std::map<std::size_t, std::size_t> counted(const std::vector<std::size_t>& sizes) {
  std::map<std::size_t, std::size_t> counts;
  for (const std::size_t size : sizes) ++counts[size];
  return counts;
}

TEST(Litter, AHoleForEachLiveBlockButNeverMoreThanLitter) {
  struct expected {
    std::size_t times, freed;
  };
  for (const auto [times, freed] : {expected{1, 500}, expected{3, 1000}, expected{10, 1000}}) {
    recording_malloc heap;
    litter made(heap.calls(), plan_of(1000, times));
    EXPECT_EQ(made.shortage(), nullptr);
    EXPECT_EQ(heap.asked.size(), 1000 * times);
    EXPECT_EQ(heap.freed.size(), freed);
    EXPECT_EQ(made.left().size(), 1000 * times - freed);
    EXPECT_FALSE(heap.misused);
  }
}

TEST(Litter, WhatIsLeftIsInUseUntilItIsTakenAway) {
  recording_malloc heap;
  {
    litter made(heap.calls(), plan_of(500, 3));
    ASSERT_EQ(made.left().size(), heap.alive.size());
    for (const litter::block& b : made.left()) EXPECT_EQ(heap.alive.at(b.data), b.size);
    made.take_away();
    EXPECT_TRUE(heap.alive.empty());
    EXPECT_TRUE(made.left().empty());
    EXPECT_FALSE(heap.misused);
  }
  {
    const litter made(heap.calls(), plan_of(500, 3));
  }
  EXPECT_EQ(heap.alive.size(), 1000u) << "the litter's own end leaves the heap littered";
}

TEST(Litter, NoTimesLeaveTheHeapFresh) {
  recording_malloc heap;
  const litter none(heap.calls(), plan_of(1000, 0));
  EXPECT_EQ(none.shortage(), nullptr);
  EXPECT_TRUE(heap.asked.empty());
  const litter of_nothing(heap.calls(), {{}, 1000, 3});
  EXPECT_TRUE(heap.asked.empty());
}

TEST(Litter, EachSizeHasItsPart) {
  recording_malloc heap;
  const litter made(heap.calls(), plan_of(1001, 3));
  auto asked = counted(heap.asked);
  EXPECT_NEAR(static_cast<double>(asked[16]), 300.3, 1);
  EXPECT_NEAR(static_cast<double>(asked[100]), 600.6, 1);
  EXPECT_NEAR(static_cast<double>(asked[3000]), 2102.1, 1);
  EXPECT_EQ(asked.size(), 3u);
}

// A weight that is too small for a block of its own has one or none; all together have as many as asked for.
TEST(Litter, RareSizesAreRare) {
  std::vector<size_weight> sizes;
  for (std::size_t size = 1; size <= 1000; ++size) sizes.push_back({size, 1});
  sizes.push_back({5000, 1'000'000'000});
  recording_malloc heap;
  const litter made(heap.calls(), {sizes, 700, 1});
  EXPECT_EQ(heap.asked.size(), 700u);
  EXPECT_GE(counted(heap.asked)[5000], 699u);
}

TEST(Litter, HolesAreOfTheSizesThatAreAskedFor) {
  recording_malloc heap;
  const litter made(heap.calls(), plan_of(2000, 3));
  std::vector<std::size_t> sizes;
  for (const auto& [which, size] : heap.freed) sizes.push_back(size);
  auto holes = counted(sizes);
  EXPECT_NEAR(static_cast<double>(holes[16]), 200, 60);
  EXPECT_NEAR(static_cast<double>(holes[100]), 400, 80);
  EXPECT_NEAR(static_cast<double>(holes[3000]), 1400, 100);
}

// How often a value is larger than the one before: half the time if the order means nothing.
template <class T>
double rises(const std::vector<T>& values) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < values.size(); ++i) count += values[i - 1] < values[i] ? 1 : 0;
  return static_cast<double>(count) / static_cast<double>(values.size() - 1);
}

TEST(Litter, BlocksAreMadeAndFreedInRandomOrder) {
  std::vector<size_weight> sizes;
  for (std::size_t size = 1; size <= 1000; ++size) sizes.push_back({size, 1});
  recording_malloc heap;
  const litter made(heap.calls(), {sizes, 1000, 3});
  EXPECT_NEAR(rises(heap.asked), 0.5, 0.05);
  std::vector<std::size_t> which;
  for (const auto& [index, size] : heap.freed) which.push_back(index);
  EXPECT_NEAR(rises(which), 0.5, 0.05);
  const auto [first, last] = std::ranges::minmax(which);
  EXPECT_LT(first, 50u);
  EXPECT_GT(last, 2950u);
}

TEST(Litter, TheSameSeedMakesTheSameLitter) {
  recording_malloc first;
  recording_malloc second;
  recording_malloc other;
  const litter a(first.calls(), plan_of(300, 3, 7));
  const litter b(second.calls(), plan_of(300, 3, 7));
  const litter c(other.calls(), plan_of(300, 3, 8));
  EXPECT_EQ(first.asked, second.asked);
  EXPECT_EQ(first.freed, second.freed);
  EXPECT_NE(first.asked, other.asked);
  EXPECT_NE(first.freed, other.freed);
}

// A heap of ours, so that what it gives out is known: its holes serve the work, far apart.
TEST(Litter, TheWorkLiesInTheHoles) {
  constexpr std::size_t size = 64;
  constexpr std::array<size_weight, 1> alike{{{size, 1}}};
  multipool heap;
  const heap_calls calls{
      &heap,
      [](void* self, std::size_t bytes) { return static_cast<multipool*>(self)->allocate(bytes, 16).data; },
      [](void* self, void* p, std::size_t bytes) {
        static_cast<multipool*>(self)->deallocate(p, bytes, 16);
      }};
  litter made(calls, {alike, 1000, 10});
  const std::size_t held = heap.usage().held;
  std::set<std::byte*> places;
  for (int i = 0; i < 1000; ++i) places.insert(static_cast<std::byte*>(heap.allocate(size, 16).data));
  EXPECT_EQ(heap.usage().held, held);
  std::size_t neighbours = 0;
  for (auto p = places.begin(); std::next(p) != places.end(); ++p) neighbours += *std::next(p) - *p == size;
  EXPECT_LT(neighbours, 200u) << "in a fresh heap all are";
  for (std::byte* const p : places) heap.deallocate(p, size, 16);
  made.take_away();
}

TEST(Litter, DamageToWhatIsLeftIsSeen) {
  recording_malloc heap;
  litter made(heap.calls(), plan_of(100, 3));
  EXPECT_TRUE(made.is_intact());
  const litter::block& victim = made.left().back();
  auto* const last = static_cast<unsigned char*>(victim.data) + victim.size - 1;
  *last = static_cast<unsigned char>(*last + 1);
  EXPECT_FALSE(made.is_intact());
}

TEST(Litter, AHeapThatRunsOutIsToldAndLeftEmpty) {
  recording_malloc heap(1234);
  const litter made(heap.calls(), plan_of(1000, 3));
  EXPECT_STREQ(made.shortage(), "no memory is left for so much litter");
  EXPECT_TRUE(made.left().empty());
  EXPECT_EQ(heap.asked.size(), 1234u);
  EXPECT_TRUE(heap.alive.empty());
  EXPECT_FALSE(heap.misused);
}

TEST(Litter, AListThatFitsNowhereIsTold) {
  for (const std::size_t live : {std::size_t{1} << 62, std::size_t{1} << 58, std::size_t{1} << 40}) {
    recording_malloc heap;
    const litter made(heap.calls(), plan_of(live, 10));
    EXPECT_STREQ(made.shortage(), "a list of so much litter does not fit into memory");
    EXPECT_TRUE(heap.asked.empty());
  }
}

TEST(Litter, WhatIsLeftIsResident) {
  constexpr std::array<size_weight, 1> large{{{std::size_t{4} << 20, 1}}};
  litter made(calls_of_malloc(), {large, 4, 1});
  for (const litter::block& b : made.left()) {
    constexpr std::size_t page = 4096;
    auto* const first = static_cast<std::byte*>(b.data) + padding_for(b.data, page);
    std::array<unsigned char, 1000> resident{};
    ASSERT_EQ(::mincore(first, resident.size() * page, resident.data()), 0);
    EXPECT_TRUE(std::ranges::all_of(resident, [](unsigned char r) { return (r & 1) != 0; }));
  }
  made.take_away();
}

// All that malloc has given out beside the litter would be the litterer's own.
TEST(Litter, MallocGivesOutTheLitterAlone) {
  constexpr std::array<size_weight, 1> alike{{{48, 1}}};
  const std::size_t before = ::mallinfo2().uordblks;
  litter made(calls_of_malloc(), {alike, 100'000, 1});
  EXPECT_EQ(made.left().size(), 50'000u);
  constexpr std::size_t in_caches = 10'000;  // freed, and counted by glibc as in use
  EXPECT_LE(::mallinfo2().uordblks - before, 50'000 * 64 + in_caches);
  made.take_away();
}

}  // namespace
}  // namespace mallard::harness
