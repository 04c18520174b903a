#include "mallard/heap/multipool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <random>
#include <type_traits>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

template <class Heap>
constexpr bool is_complete_heap =
    heap<Heap> && layered<Heap> && releasable<Heap> && clearable<Heap> && owning<Heap> && inspectable<Heap> &&
    burst<Heap> && std::is_default_constructible_v<Heap> && !std::is_copy_constructible_v<Heap> &&
    !std::is_move_constructible_v<Heap>;

static_assert(is_complete_heap<multipool> && is_complete_heap<multipool_over_monotonic> &&
              is_complete_heap<fifo_multipool>);
static_assert(!trimmable<multipool> && !freeable<multipool> && !resizable<multipool> &&
              !concurrent<multipool>);

constexpr std::size_t largest = multipool::classes::largest;

class Multipool : public testing::Test {
 protected:
  [[nodiscard]] std::size_t held() const { return heap_.upstream().held(); }

  multipool heap_;
};

TEST_F(Multipool, HoldsNothingBeforeItsFirstBlockAndOnePageAfter) {
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(heap_.allocate(1, 1));
  EXPECT_EQ(held(), os_pages::page_size());
}

TEST_F(Multipool, ManyClassesShareFewPages) {
  for (std::size_t size = 8; size <= 512; size += 8) ASSERT_TRUE(heap_.allocate(size, 8));
  EXPECT_LE(held(), 16 * os_pages::page_size());
}

TEST_F(Multipool, PooledBlocksHaveNoHeader) {
  for (const std::size_t size : {8u, 24u, 48u, 128u}) {
    ASSERT_TRUE(heap_.allocate(size, 8));  // behind the first one may lie what the class needs itself
    const block a = heap_.allocate(size, 8);
    const block b = heap_.allocate(size, 8);
    EXPECT_EQ(b.data, static_cast<std::byte*>(a.data) + size);
    EXPECT_EQ(a.size, size);
  }
  EXPECT_EQ(heap_.usage().carved, heap_.usage().granted);
}

TEST_F(Multipool, RoundsNoSizeByMoreThanAnEighthAndMultiplesOf8UpTo128NotAtAll) {
  for (std::size_t size = 8; size <= 128; size += 8) EXPECT_EQ(heap_.allocate(size, 8).size, size);
  for (std::size_t size = 65; size <= largest; ++size) {
    const std::size_t received = multipool::classes::size(multipool::classes::index(size, 1));
    ASSERT_LE(received, size + size / 8) << size;
  }
}

TEST_F(Multipool, AFreedBlockIsTheNextOfItsClass) {
  const block a = heap_.allocate(48, 8);
  (void)heap_.allocate(48, 8);
  heap_.deallocate(a.data, 48, 8);
  EXPECT_EQ(heap_.allocate(41, 8), a);
}

TEST_F(Multipool, NoClassCarvesWhileBlocksOfItAreFree) {
  for (const std::size_t size : {64u, 256u, 1024u, 8192u}) {
    const std::size_t index = multipool::classes::index(size, 8);
    std::vector<void*> blocks(50);
    for (void*& p : blocks) p = heap_.allocate(size, 8).data;
    const std::size_t carved = heap_.statistics(index).carved;
    for (void* p : blocks) heap_.deallocate(p, size, 8);
    for (void*& p : blocks) p = heap_.allocate(size, 8).data;
    EXPECT_EQ(heap_.statistics(index).carved, carved) << size;
  }
}

TEST_F(Multipool, AnySizeUpToTheReceivedOneEndsABlock) {
  for (const std::size_t align : {1u, 8u, 16u, 64u, 128u, 4096u})
    for (const std::size_t size : {0u, 1u, 15u, 100u, 1000u, 1025u, 30000u, 32768u, 70000u})
      for (int part = 0; part < 3; ++part) {
        const block b = heap_.allocate(size, align);
        ASSERT_TRUE(b && is_aligned(b.data, align));
        heap_.deallocate(b.data, size + (b.size - size) * static_cast<std::size_t>(part) / 2, align);
        ASSERT_EQ(heap_.usage().granted, 0u) << size << " at " << align;
      }
  EXPECT_FALSE(heap_.validate());
}

TEST_F(Multipool, LargeBlocksGoBackWhenTheyAreFreed) {
  (void)heap_.allocate(8, 8);
  const std::size_t before = held();
  std::vector<block> blocks;
  blocks.reserve(11);
  for (std::size_t i = 0; i < 10; ++i) blocks.push_back(heap_.allocate(largest + 1 + i * 10000, 8));
  blocks.push_back(heap_.allocate(8, 4096));
  EXPECT_FALSE(heap_.validate());
  std::ranges::shuffle(blocks, std::mt19937(1));
  for (const block& b : blocks) heap_.deallocate(b.data, b.size, b.size > largest ? 8 : 4096);
  EXPECT_EQ(held(), before);
}

TEST_F(Multipool, LargeBlocksCostTheirPagesOnly) {
  const block b = heap_.allocate(1000000, 8);
  EXPECT_EQ(held(), heap_.upstream().received_size(1000000 + 32, 16));
  EXPECT_LE(held(), align_up(1000000 + 1000000 / 32, os_pages::page_size()));
  EXPECT_TRUE(heap_.owns(b.data));
}

TEST_F(Multipool, WhatIsCarvedTooEarlyIsASmallShare) {
  for (const std::size_t size : {16u, 24u, 56u, 72u, 192u, 1024u, 5000u})
    for (std::size_t bytes = 0; bytes < 1000000; bytes += size) ASSERT_TRUE(heap_.allocate(size, 8));
  const heap_usage usage = heap_.usage();
  EXPECT_EQ(usage.held, held());
  EXPECT_LE(static_cast<double>(usage.held), 1.15 * static_cast<double>(usage.granted));
}

TEST_F(Multipool, HoldsThePeakOfItsClassAndLittleMoreAfterEverythingIsFreed) {
  constexpr std::size_t peak = std::size_t{4} << 20;
  for (std::size_t index = 0; index < multipool::classes::count; ++index) {
    const std::size_t size = multipool::classes::size(index);
    std::vector<block> blocks;
    for (std::size_t bytes = 0; bytes < peak; bytes += size) blocks.push_back(heap_.allocate(size, 8));
    blocks.push_back(heap_.allocate(largest + 1, 8));
    for (const block& b : blocks) heap_.deallocate(b.data, b.size, 8);
    EXPECT_LE(held(), peak + peak * 3 / 16) << size;
    heap_.release();
  }
}

TEST_F(Multipool, HoldsASmallSumOfPeaksInFewPagesMore) {
  for (std::size_t index = 0; index < multipool::classes::count; ++index) {
    const std::size_t size = multipool::classes::size(index);
    const block b = heap_.allocate(size, 8);
    heap_.deallocate(b.data, size, 8);
    EXPECT_LE(held(), 2 * size + 16384 + 1024 + os_pages::page_size()) << size;
    heap_.release();
  }
}

TEST_F(Multipool, ClearKeepsThePoolsChunksAndNoLargeBlock) {
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(100, 8);
  const std::size_t pools = held();
  (void)heap_.allocate(largest + 1, 8);
  heap_.clear();
  EXPECT_EQ(heap_.usage(), (heap_usage{pools, 0, 0}));
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(100, 8);
  EXPECT_EQ(held(), pools);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(Multipool, ReleaseKeepsNothing) {
  for (std::size_t size = 0; size < 3 * largest; size += 999) ASSERT_TRUE(heap_.allocate(size, 8));
  heap_.release();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(heap_.usage(), (heap_usage{}));
  EXPECT_FALSE(heap_.validate());
  EXPECT_TRUE(heap_.allocate(100, 8));
}

TEST_F(Multipool, ABurstIsAllOrNothing) {
  chain burst;
  ASSERT_TRUE(heap_.allocate_burst(burst, 100, 24, 8, 0));
  EXPECT_EQ(burst.size(), 100u);
  EXPECT_EQ(heap_.usage().granted, 2400u);
  EXPECT_EQ(chain::next(burst.front()), static_cast<std::byte*>(burst.front()) + 24);
  ASSERT_TRUE(heap_.allocate_burst(burst, 3, 24, 8, 0));
  EXPECT_EQ(burst.size(), 103u);
  EXPECT_FALSE(heap_.allocate_burst(burst, 3, static_cast<std::size_t>(-1), 8, 0));
  EXPECT_EQ(burst.size(), 103u);
  heap_.deallocate_burst(burst, 24, 8);
  EXPECT_EQ(heap_.usage().granted, 0u);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(Multipool, ABurstIsAdjacentAsFarAsItWishes) {
  ASSERT_TRUE(heap_.allocate(48, 8));
  chain burst;
  ASSERT_TRUE(heap_.allocate_burst(burst, 1000, 48, 8, 48 * 250));
  for (int run = 0; run < 4; ++run) {
    const auto* const first = static_cast<std::byte*>(burst.pop_front());
    for (std::size_t i = 1; i < 250; ++i) ASSERT_EQ(burst.pop_front(), first + i * 48);
  }
  EXPECT_FALSE(heap_.validate());
}

TEST_F(Multipool, ABurstThatWishesForTooMuchIsCutIntoWhatThereIs) {
  chain burst;
  ASSERT_TRUE(heap_.allocate_burst(burst, 100, 48, 8, static_cast<std::size_t>(-1)));
  EXPECT_EQ(burst.size(), 100u);
  alignas(8192) static std::byte bytes[65536];
  basic_multipool<fixed_buffer, multipool_classes, doubling<4096, 4096>> small(bytes, sizeof bytes);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(small.allocate(100, 8));
  chain rest;
  ASSERT_TRUE(small.allocate_burst(rest, 580, 48, 8, 65536));
  int pieces = 1;
  for (const void* p = rest.front(); chain::next(p) != nullptr; p = chain::next(p))
    if (chain::next(p) != static_cast<const std::byte*>(p) + 48) ++pieces;
  EXPECT_GT(pieces, 1) << "27840 bytes are in one piece: nothing had to be cut";
  EXPECT_FALSE(small.validate());
}

TEST_F(Multipool, ABurstOfTinyOrLargeBlocksEndsLikeAnyOther) {
  chain burst;
  ASSERT_TRUE(heap_.allocate_burst(burst, 5, 1, 1, 0));
  heap_.deallocate_burst(burst, 1, 1);
  ASSERT_TRUE(heap_.allocate_burst(burst, 5, largest + 1, 8, 0));
  heap_.deallocate_burst(burst, largest + 1, 8);
  EXPECT_EQ(heap_.usage().granted, 0u);
  EXPECT_FALSE(heap_.validate());
}

TEST(MultipoolUnderPressure, ServesTheSmallWhenTheLargeNoLongerFit) {
  alignas(64) std::byte bytes[65536];
  basic_multipool<fixed_buffer> heap(bytes, sizeof bytes);
  std::size_t served = 0;
  for (std::size_t size = 16384; size >= 8; size /= 2)
    while (heap.allocate(size, 8)) served += size;
  EXPECT_FALSE(heap.validate());
  EXPECT_GT(served, sizeof bytes * 9 / 10);
  EXPECT_EQ(heap.allocate(8, 8), block{});
  heap.release();
  EXPECT_TRUE(heap.allocate(16384, 8));
}

TEST(MultipoolUnderPressure, ABurstThatFailsHalfwayLeavesNothing) {
  basic_multipool<failing<counting<os_pages>>> heap;
  chain burst;
  heap.upstream().fail_from(2);
  EXPECT_FALSE(heap.allocate_burst(burst, 1000, 1000, 8, 0));
  EXPECT_TRUE(burst.empty());
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_FALSE(heap.validate());
  EXPECT_TRUE(heap.allocate(1000, 8));
}

// There is no other memory than what the clear has kept.
TEST(MultipoolUnderPressure, ABurstOfLargeBlocksGetsWhatAClearHasKept) {
  alignas(64) static std::byte bytes[std::size_t{512} << 10];
  basic_best_fit<fixed_buffer> memory(bytes, sizeof bytes);
  basic_multipool<upstream_ref<basic_best_fit<fixed_buffer>>> heap(memory);
  while (heap.allocate(1000, 8)) {
  }
  heap.clear();
  chain burst;
  ASSERT_TRUE(heap.allocate_burst(burst, 4, 2 * largest, 8, 0));
  EXPECT_EQ(burst.size(), 4u);
  EXPECT_FALSE(heap.validate());
  heap.deallocate_burst(burst, 2 * largest, 8);
}

TEST(MultipoolOverMonotonic, ReleaseReachesTheUpstreamItOwns) {
  multipool_over_monotonic heap;
  for (std::size_t size = 0; size < 3 * largest; size += 999) ASSERT_TRUE(heap.allocate(size, 8));
  EXPECT_FALSE(heap.validate());
  heap.release();
  EXPECT_EQ(heap.upstream().upstream().held(), 0u);
}

// Ends after the heap above it, and counts what was given back one by one.
class counts_what_returns {
 public:
  block allocate(std::size_t size, std::size_t align) noexcept { return heap_.allocate(size, align); }
  void deallocate(void*, std::size_t, std::size_t) noexcept { ++returned; }
  void release() noexcept { heap_.release(); }
  void clear() noexcept { heap_.clear(); }

  static inline int returned = 0;

 private:
  monotonic heap_;
};

TEST(MultipoolOverMonotonic, ReleaseClearAndTheEndTouchNoBlock) {
  counts_what_returns::returned = 0;
  {
    basic_multipool<counts_what_returns> heap;
    for (int cycle = 0; cycle < 3; ++cycle) {
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(heap.allocate(static_cast<std::size_t>(i) * 1999, 8));
      if (cycle == 0) heap.release();
      if (cycle == 1) heap.clear();
      EXPECT_EQ(heap.usage().granted == 0, cycle < 2);
    }
  }
  EXPECT_EQ(counts_what_returns::returned, 0);
}

TEST(MultipoolOverMonotonic, ClearAgainAndAgainHoldsNoMore) {
  multipool_over_monotonic heap;
  std::size_t after_two = 0;
  for (int cycle = 0; cycle < 10; ++cycle) {
    for (std::size_t size = 0; size < 2 * largest; size += 99) ASSERT_TRUE(heap.allocate(size, 8));
    heap.clear();
    if (cycle == 1) after_two = heap.upstream().upstream().held();
  }
  EXPECT_GT(after_two, 0u);
  EXPECT_LE(heap.upstream().upstream().held(), after_two);
}

TEST(MultipoolOverMonotonic, ClearKeepsOneChunkOfWhatPassedThroughToo) {
  multipool_over_monotonic heap;
  constexpr std::size_t above = multipool_over_monotonic::classes::largest + 1;
  for (int i = 0; i < 10; ++i) {
    const block b = heap.allocate(above, 8);
    ASSERT_TRUE(b);
    heap.deallocate(b.data, b.size, 8);
  }
  EXPECT_GE(heap.upstream().upstream().held(), 10 * above);
  heap.clear();
  EXPECT_LE(heap.upstream().upstream().held(), 2 * 10 * above);
}

// Chunks that were kept have no room for as many blocks as are to be adjacent, and there is no more memory.
TEST(MultipoolBurst, AsksNotForEachBlockAgainWhereSoManyCannotBeAdjacent) {
  basic_multipool<failing<counting<os_pages>>, multipool_classes, constant<4096>> heap;
  constexpr std::size_t count = 10000;
  for (std::size_t i = 0; i < 2 * count; ++i) ASSERT_TRUE(heap.allocate(48, 8));
  heap.clear();
  heap.upstream().fail_from(1);
  chain out;
  ASSERT_TRUE(heap.allocate_burst(out, count, 48, 8, static_cast<std::size_t>(-1)));
  EXPECT_EQ(out.size(), count);
  EXPECT_LT(heap.upstream().requests(), 200u);
}

TEST(MultipoolOverAnother, AnyStackingWorks) {
  basic_multipool<basic_monotonic<multipool>> heap;
  std::vector<block> blocks;
  for (std::size_t size = 0; size < 2 * largest; size += 333) {
    blocks.push_back(heap.allocate(size, 8));
    ASSERT_TRUE(blocks.back());
  }
  for (const block& b : blocks) heap.deallocate(b.data, b.size, 8);
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_FALSE(heap.validate());
  heap.release();
  EXPECT_EQ(heap.upstream().upstream().upstream().held(), 0u);
}

// A chunk and a run for each block. A step for each of those and each block would take minutes.
TEST(MultipoolOverAnother, InspectingTakesNoStepForEachChunkOfABlock) {
  basic_multipool<monotonic, multipool_classes, constant<1>, constant<1>> heap;
  std::vector<void*> blocks(100000);
  for (void*& p : blocks) p = heap.allocate(48, 8).data;
  for (void* p : blocks) heap.deallocate(p, 48, 8);
  EXPECT_FALSE(heap.validate());
  EXPECT_EQ(heap.usage().granted, 0u);
}

// --- slabs ----------------------------------------------------------------------------------------

constexpr std::size_t many = 40000;

template <class Heap>
std::vector<void*> blocks_of(Heap& heap, std::size_t count, std::size_t size) {
  std::vector<void*> blocks(count);
  for (void*& p : blocks) p = heap.allocate(size, 8).data;
  return blocks;
}

// Of a heap that has freed half of its blocks in random order: the pages that its next 1000 blocks lie on.
template <class Heap>
std::size_t pages_of_neighbours() {
  Heap heap;
  std::vector<void*> blocks = blocks_of(heap, many, 48);
  std::ranges::shuffle(blocks, std::mt19937(1));
  for (std::size_t i = 0; i < many / 2; ++i) heap.deallocate(blocks[i], 48, 8);
  std::vector<std::uintptr_t> pages;
  for (void* p : blocks_of(heap, 1000, 48)) pages.push_back(address_of(p) / os_pages::page_size());
  EXPECT_FALSE(heap.validate());
  std::ranges::sort(pages);
  return static_cast<std::size_t>(std::ranges::unique(pages).begin() - pages.begin());
}

TEST(MultipoolSlabs, BlocksOfAShuffledHeapAreNeighbours) {
  EXPECT_LT(3 * pages_of_neighbours<multipool>(), pages_of_neighbours<lifo_multipool>());
}

TEST(MultipoolSlabs, AnEmptiedHeapStartsAnewInTheOrderOfAddresses) {
  multipool heap;
  std::vector<void*> blocks = blocks_of(heap, many, 48);
  std::ranges::shuffle(blocks, std::mt19937(1));
  for (void* p : blocks) heap.deallocate(p, 48, 8);
  EXPECT_FALSE(heap.validate());
  const std::size_t held = heap.upstream().held();
  blocks = blocks_of(heap, many, 48);
  std::size_t in_order = 0;
  for (std::size_t i = 1; i < many; ++i)
    if (blocks[i] == static_cast<std::byte*>(blocks[i - 1]) + 48) ++in_order;
  EXPECT_GT(in_order, many / 2) << "where no slab keeps a block that waits in a magazine";
  EXPECT_EQ(heap.upstream().held(), held);
}

// It ends with what its slabs have left, through their magazine.
TEST(MultipoolSlabs, ABurstThatFailsLeavesNothingBehind) {
  basic_multipool<failing<counting<os_pages>>, multipool_classes, constant<65536>> heap;
  (void)heap.allocate(48, 8);
  for (std::size_t request = 1; request <= 4; ++request) {
    heap.upstream().fail_from(request);
    chain burst;
    EXPECT_FALSE(heap.allocate_burst(burst, 1 << 15, 48, 8, 0));
    heap.upstream().fail_no_more();
    EXPECT_EQ(heap.usage().granted, 48u);
    EXPECT_FALSE(heap.validate());
  }
}

TEST(MultipoolSlabs, WhatOneClassNoLongerNeedsServesAnother) {
  multipool heap;
  for (const void* p : blocks_of(heap, many, 48)) heap.deallocate(const_cast<void*>(p), 48, 8);
  const std::size_t held = heap.upstream().held();
  (void)blocks_of(heap, many * 48 / 64, 64);
  EXPECT_LT(heap.upstream().held(), held + held / 8);
  EXPECT_FALSE(heap.validate());
}

// Memory that is aligned no more strictly than blocks of malloc are.
class weakly_aligned {
 public:
  block allocate(std::size_t size, std::size_t align) noexcept {
    return align > default_align ? block{} : source_.allocate(size + default_align, align);
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    source_.deallocate(p, size, align);
  }
  [[nodiscard]] std::size_t held() const noexcept { return source_.held(); }

 private:
  counting<memory_resource_source> source_;
};

TEST(MultipoolSlabs, AHeapWithoutAlignedMemoryServesEverythingFromOneListAClass) {
  basic_multipool<weakly_aligned> heap;
  std::mt19937 random(1);
  std::vector<block> blocks;
  for (std::size_t i = 0; i < many; ++i) {
    const std::size_t size = 1 + random() % 1500;
    blocks.push_back(heap.allocate(size, 8));
    ASSERT_TRUE(blocks.back());
    if (random() % 3 != 0) continue;
    std::swap(blocks.back(), blocks[random() % blocks.size()]);
    heap.deallocate(blocks.back().data, blocks.back().size, 8);
    blocks.pop_back();
  }
  EXPECT_FALSE(heap.validate());
  for (const block& b : blocks) heap.deallocate(b.data, b.size, 8);
  EXPECT_FALSE(heap.validate());
  EXPECT_EQ(heap.usage().granted, 0u);
}

TEST(MultipoolSlabs, BlocksOfABurstGoToTheirSlabsAsOthersDo) {
  for (const std::size_t before : {0u, 1u, 1000u}) {
    multipool heap;
    chain burst;
    (void)blocks_of(heap, before, 48);
    ASSERT_TRUE(heap.allocate_burst(burst, many, 48, 8, 48 * 20));
    std::vector<void*> blocks;
    while (!burst.empty()) blocks.push_back(burst.pop_front());
    for (void* p : blocks) heap.deallocate(p, 48, 8);
    const std::size_t held = heap.upstream().held();
    (void)blocks_of(heap, many * 48 / 64, 64);
    EXPECT_LT(heap.upstream().held(), held + held / 8)
        << "emptied slabs serve another class; before: " << before;
  }
}

TEST(MultipoolSlabs, BurstsLeaveNoEndsOfSlabsUnused) {
  for (const std::size_t count : {30u, 100u, 120u}) {
    multipool heap;
    for (std::size_t bursts = 0; bursts < many / count; ++bursts) {
      chain burst;
      ASSERT_TRUE(heap.allocate_burst(burst, count, 48, 8, 48 * count));
    }
    EXPECT_LT(heap.upstream().held(), many * 48 + many * 48 / 8) << count;
  }
}

TEST(MultipoolSlabs, WhereThereIsNothingElseAnyClassTakesEmptiedSlabs) {
  alignas(8192) static std::byte bytes[262144];
  basic_multipool<fixed_buffer> heap(bytes, sizeof bytes);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(heap.allocate(64, 8));
  const std::vector<void*> blocks = blocks_of(heap, 3000, 48);
  while (heap.allocate(64, 8)) {
  }
  for (void* p : blocks) heap.deallocate(p, 48, 8);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(heap.allocate(64, 8)) << i;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(heap.allocate(3000, 8)) << i;
  EXPECT_FALSE(heap.validate());
}

// What an upstream without aligned memory is asked for. It refuses what is not, and counts that.
class unaligned_source {
 public:
  unaligned_source() = default;
  unaligned_source(const unaligned_source&) = delete;
  unaligned_source& operator=(const unaligned_source&) = delete;

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    ++asked;
    return align > 4096 ? block{} : source_.allocate(size, align);
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    source_.deallocate(p, size, align);
  }

  int asked = 0;

 private:
  memory_resource_source source_;
};

TEST(MultipoolSlabs, WhatTheUpstreamHasRefusedIsNotAskedForAgainAndAgain) {
  basic_multipool<unaligned_source> heap;
  int asked = 0;
  for (int pass = 0; pass < 3; ++pass) {
    asked = heap.upstream().asked;
    for (const std::size_t size : {48u, 256u, 1024u}) {
      const std::vector<void*> blocks = blocks_of(heap, many / 4, size);
      for (void* p : blocks) heap.deallocate(p, size, 8);
    }
    EXPECT_LT(heap.upstream().asked, 200);
  }
  EXPECT_EQ(heap.upstream().asked, asked);
  EXPECT_FALSE(heap.validate());
}

TEST(MultipoolSlabs, AClassKeepsOneListOnceItWasAskedForMoreAdjacentBlocksThanASlabHas) {
  multipool heap;
  std::vector<void*> blocks = blocks_of(heap, many, 48);
  chain burst;
  ASSERT_TRUE(heap.allocate_burst(burst, 1000, 48, 8, 48 * 500));
  const auto* const first = static_cast<std::byte*>(burst.front());
  for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(burst.pop_front(), first + i * 48);
  for (void* p : blocks) heap.deallocate(p, 48, 8);
  heap.deallocate_burst(burst, 48, 8);
  EXPECT_FALSE(heap.validate());
  EXPECT_EQ(heap.usage().granted, 500 * 48u);
  const std::size_t held = heap.upstream().held();
  (void)blocks_of(heap, many, 48);
  EXPECT_EQ(heap.upstream().held(), held) << "what lies in slabs is reused";
}

TEST(FifoMultipool, ReusesWhatWasFreedFirst) {
  fifo_multipool heap;
  std::vector<void*> blocks(1000);
  for (void*& p : blocks) p = heap.allocate(24, 8).data;
  for (void* p : blocks) heap.deallocate(p, 24, 8);
  while (heap.allocate(24, 8).data != blocks[0])
    continue;  // what was carved with the last of them comes first
  for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_EQ(heap.allocate(24, 8).data, blocks[i]);
}

// Of a list that long use takes links from in front and adds links to behind, in random order: how many links
// do not stand right behind the one before them.
template <class Heap>
int links_out_of_order() {
  Heap heap;
  std::list<int, allocator<int, Heap>> links(4096, 0, allocator<int, Heap>(heap));
  std::mt19937 random;
  for (int i = 0; i < 40000; ++i) {
    if (random() % 2 == 0)
      links.push_back(i);
    else if (!links.empty())
      links.pop_front();
  }
  int jumps = 0;
  const int* before = nullptr;
  for (const int& link : links) {
    if (before != nullptr && address_of(&link) - address_of(before) != 24) ++jumps;
    before = &link;
  }
  return jumps;
}

TEST(FifoMultipool, KeepsAListInTheOrderOfAddresses) {
  EXPECT_LT(3 * links_out_of_order<fifo_multipool>(), links_out_of_order<multipool>());
}

#if MALLARD_CHECKS >= 2
TEST(MultipoolDeathTest, AWriteToAFreedBlockIsFoundWhereManyBlocksEnd) {
  lifo_multipool heap;  // its free list is in the blocks
  const block freed = heap.allocate(48, 8);
  heap.deallocate(freed.data, 48, 8);
  const auto write = [&] { *static_cast<std::uintptr_t*>(freed.data) = 0x1234; };
  EXPECT_DEATH((write(), heap.clear()), "validate");
  EXPECT_DEATH((write(), heap.release()), "validate");
  EXPECT_DEATH((write(), heap.~basic_multipool()), "validate");
}
#endif

TEST(MultipoolDestruction, GivesEverythingBack) {
  counting<memory_resource_source> source;
  {
    basic_multipool<upstream_ref<counting<memory_resource_source>>> heap(source);
    for (std::size_t size = 0; size < 3 * largest; size += 999) ASSERT_TRUE(heap.allocate(size, 8));
    EXPECT_GT(source.held(), 0u);
  }
  EXPECT_EQ(source.held(), 0u);
}

}  // namespace
}  // namespace mallard
