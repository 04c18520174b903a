// What it guarantees beyond the model suite: who takes the lock, and where cached blocks go.
#include "mallard/heap/synchronized_best_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "watched_mutex.hpp"

namespace mallard {
namespace {

template <class Heap>
constexpr bool is_complete_heap =
    heap<Heap> && layered<Heap> && releasable<Heap> && clearable<Heap> && trimmable<Heap> && owning<Heap> &&
    freeable<Heap> && measurable<Heap> && expandable<Heap> && shrinkable<Heap> && burst<Heap> &&
    burst_of_sizes<Heap> && concurrent<Heap> && thread_caching<Heap> && inspectable<Heap>;
static_assert(is_complete_heap<synchronized_best_fit>);

using watched_heap =
    basic_synchronized_best_fit<default_source, best_fit_growth, best_fit_largest, watched_mutex>;

class SynchronizedBestFit : public testing::Test {
 protected:
  template <class Operation>
  static std::size_t locks(Operation operation) {
    const std::size_t before = watched_mutex::taken();
    operation();
    return watched_mutex::taken() - before;
  }

  std::vector<void*> allocate(std::size_t count, std::size_t size) {
    std::vector<void*> blocks(count);
    for (void*& p : blocks) p = heap_.allocate(size, 8).data;
    return blocks;
  }
  void deallocate(const std::vector<void*>& blocks) {
    for (void* const p : blocks) heap_.deallocate(p);
  }

  watched_heap heap_;
};

TEST_F(SynchronizedBestFit, HoldsNothingBeforeItsFirstBlock) {
  EXPECT_EQ(heap_.usage(), (heap_usage{}));
  ASSERT_TRUE(heap_.allocate(1, 1));
  EXPECT_EQ(heap_.usage().held, heap_.upstream().held());
}

TEST_F(SynchronizedBestFit, PairsOfOneThreadTakeNoLock) {
  for (const std::size_t size : {0u, 24u, 25u, 500u, 1000u}) {
    deallocate(allocate(3, size));
    EXPECT_EQ(locks([&] { deallocate(allocate(3, size)); }), 0u) << size;
  }
}

TEST_F(SynchronizedBestFit, WhatIsNotCachedTakesOneLock) {
  for (const std::size_t size : {1001u, 100000u, 1000000u}) {
    void* p = nullptr;
    EXPECT_EQ(locks([&] { p = heap_.allocate(size, 8).data; }), 1u) << size;
    EXPECT_EQ(locks([&] { EXPECT_GE(heap_.usable_size(p), size); }), 0u) << size;
    EXPECT_EQ(locks([&] { heap_.deallocate(p, size, 8); }), 1u) << size;
  }
}

TEST_F(SynchronizedBestFit, ABurstTakesOneLock) {
  const std::array<std::size_t, 4> lengths = {1, 200, 3, 5000};
  chain blocks;
  EXPECT_EQ(locks([&] { ASSERT_TRUE(heap_.allocate_burst(blocks, 100, 48, 8, 0)); }), 1u);
  EXPECT_EQ(locks([&] { heap_.deallocate_burst(blocks, 48, 8); }), 1u);
  EXPECT_EQ(locks([&] { ASSERT_TRUE(heap_.allocate_burst(blocks, lengths.data(), 4, 8, 8, 0)); }), 1u);
  EXPECT_EQ(locks([&] { heap_.deallocate_burst(blocks); }), 1u);
  EXPECT_EQ(heap_.usage().granted, 0u);
}

TEST_F(SynchronizedBestFit, ACommandTakesOneLock) {
  v2_allocator<int, watched_heap> numbers(heap_);
  int* const first = numbers.allocate(100);
  int* reuse = first;
  std::size_t size = 300;
  EXPECT_EQ(locks([&] {
              static_cast<void>(numbers.allocation_command(
                  commands::expand_fwd | commands::expand_bwd | commands::allocate_new, 200, size, reuse));
            }),
            1u);
  EXPECT_GE(size, 200u);
}

TEST_F(SynchronizedBestFit, ABlockOfABurstGoesIntoTheCacheOfItsSize) {
  deallocate(allocate(1, 40));
  chain blocks;
  ASSERT_TRUE(heap_.allocate_burst(blocks, 1, 200, 8, 0));
  void* const p = blocks.pop_front();
  heap_.deallocate(p, 200, 8);
  EXPECT_EQ(locks([&] { EXPECT_EQ(heap_.allocate(200, 8).data, p); }), 0u);
}

TEST_F(SynchronizedBestFit, ABlockThatWasResizedGoesIntoTheCacheOfItsNewSize) {
  const block b = heap_.allocate(900, 8);
  const resize_result shrunk = heap_.resize({b.data, unknown_size, 8, 104, 100, resize_way::shrink});
  ASSERT_TRUE(shrunk.memory);
  heap_.deallocate(b.data);
  EXPECT_EQ(heap_.allocate(100, 8).data, b.data);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(SynchronizedBestFit, MemoryOfOneSizeServesAnother) {
  const std::vector<void*> small = allocate(20000, 40);
  const std::size_t held = heap_.usage().held;
  deallocate(small);
  EXPECT_EQ(heap_.usage().granted, 0u);
  const std::vector<void*> larger = allocate(1000, 700);
  EXPECT_LE(heap_.usage().held, held);
  deallocate(larger);
}

// What the others have in their caches is lost to this thread; what it has itself, and what waits, is not.
TEST_F(SynchronizedBestFit, WhatIsCachedComesBackBeforeARequestFails) {
  constexpr std::size_t bytes = 65536;
  const std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
  basic_synchronized_best_fit<fixed_buffer> heap(buffer.get(), bytes);
  const auto fill = [&](std::size_t size) {
    std::vector<void*> blocks;
    while (const block b = heap.allocate(size, 8)) blocks.push_back(b.data);
    for (void* const p : blocks) heap.deallocate(p);
    return blocks.size() * size;
  };
  const std::size_t first = fill(40);
  for (const std::size_t size : {100u, 24u, 1000u, 9000u, 40u}) EXPECT_GE(fill(size), first * 3 / 5) << size;
  EXPECT_TRUE(heap.allocate(50000, 8));
}

TEST_F(SynchronizedBestFit, AThreadThatEndsLeavesItsBlocksToAllSizes) {
  constexpr std::size_t bytes = 65536;
  const std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
  basic_synchronized_best_fit<fixed_buffer> heap(buffer.get(), bytes);
  std::thread([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 60; ++i) blocks.push_back(heap.allocate(500, 8).data);
    for (void* const p : blocks) heap.deallocate(p);
  }).join();
  EXPECT_TRUE(heap.allocate(50000, 8));
}

TEST_F(SynchronizedBestFit, TrimGivesCachesBackToo) {
  deallocate(allocate(1000, 40));
  std::thread([&] { deallocate(allocate(1000, 300)); }).join();
  const std::size_t held = heap_.usage().held;
  EXPECT_EQ(heap_.trim(0), held);
  EXPECT_EQ(heap_.usage().held, 0u);
  deallocate(allocate(1000, 40));
  EXPECT_FALSE(heap_.validate());
}

TEST_F(SynchronizedBestFit, ValidateSeesABlockOfAnotherSizeThanItsList) {
  chain neighbours;
  ASSERT_TRUE(heap_.allocate_burst(neighbours, 2, 40, 8, 0));
  void* const p = neighbours.pop_front();
  heap_.deallocate(p);
  EXPECT_FALSE(heap_.validate());
  boundary_tag* const b = boundary_tag::of(p);
  const std::size_t size = b->size();
  ASSERT_EQ(b->next()->data(), neighbours.front());
  b->resize(2 * size);  // with its neighbour: the walk through all blocks finds nothing wrong
  EXPECT_TRUE(heap_.validate());
  b->resize(size);
  EXPECT_FALSE(heap_.validate());
}

}  // namespace
}  // namespace mallard
