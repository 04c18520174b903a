#include "mallard/heap/segment_heap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "mallard/core/reallocate.hpp"

namespace mallard {
namespace {

static_assert(heap<segment_heap> && freeable<segment_heap> && measurable<segment_heap>);
static_assert(predictable<segment_heap> && owning<segment_heap> && resizable<segment_heap>);
static_assert(releasable<segment_heap> && trimmable<segment_heap> && inspectable<segment_heap>);
static_assert(sizeof(segment_heap) <= 4096, "thousands may live in one process");

constexpr std::size_t segment_bytes = segments::segment_bytes;

TEST(SegmentHeap, HeapsFindTheirBlocksAmongThousands) {
  std::vector<segment_heap> heaps(2000);
  std::vector<void*> blocks;
  for (segment_heap& h : heaps) blocks.push_back(h.allocate(40, 8).data);
  for (std::size_t i = 0; i != heaps.size(); ++i) {
    EXPECT_TRUE(heaps[i].owns(blocks[i]));
    EXPECT_FALSE(heaps[(i + 1) % heaps.size()].owns(blocks[i]));
    EXPECT_EQ(heaps[i].usable_size(blocks[i]), 48u);
  }
}

TEST(SegmentHeap, WhatOneHeapHasGivenBackServesAnother) {
  segments from;
  {
    segment_heap first(from);
    std::vector<void*> blocks;
    for (int i = 0; i != 10000; ++i) blocks.push_back(first.allocate(100, 8).data);
    const std::size_t used = from.usage().used;
    for (void* p : blocks) first.deallocate(p);
    segment_heap second(from);
    for (int i = 0; i != 2000; ++i) ASSERT_TRUE(second.allocate(300, 8));
    EXPECT_LE(from.usage().used + from.usage().dirty, used + segment_bytes);
  }
  EXPECT_EQ(from.usage().used, 0u);
  from.close();
}

TEST(SegmentHeap, ALargeBlockGrowsAndShrinksWhereItIs) {
  segments from;
  {
    segment_heap h(from);
    const block b = h.allocate(100000, 16);
    std::memset(b.data, 1, b.size);
    const resize_result grown = h.resize({b.data, b.size, 16, 1000000, 1000000, resize_way::expand_forward});
    EXPECT_EQ(grown.memory.data, b.data);
    EXPECT_GE(grown.memory.size, 1000000u);
    const std::size_t used = from.usage().used;
    const resize_result shrunk = h.resize({b.data, unknown_size, 16, 80000, 70000, resize_way::shrink});
    EXPECT_EQ(shrunk.memory.data, b.data);
    EXPECT_EQ(shrunk.memory.size, 73728u);
    EXPECT_EQ(from.usage().used, used - 14 * segment_bytes);
    EXPECT_EQ(static_cast<const char*>(b.data)[69999], 1);
  }
  from.close();
}

TEST(SegmentHeap, RoomIsForGrowingIntoWithoutAnyMemory) {
  segments from;
  {
    segment_heap h(from);
    segment* const s = h.allocate_large(100000, 16, 900000);
    void* const p = from.start_of(s);
    EXPECT_EQ(h.usable_size(p), 102400u);
    ASSERT_TRUE(h.allocate(100000, 16));
    EXPECT_EQ(reallocate(h, p, 990000, 16), p);
  }
  from.close();
}

TEST(SegmentHeap, LargeBlocksOfNewMemoryAreKnownToBeZero) {
  segments from;
  {
    segment_heap h(from);
    segment* const first = h.allocate_large(200000, 16);
    EXPECT_TRUE(first->is_zero);
    std::memset(from.start_of(first), 1, 200000);
    h.deallocate(from.start_of(first));
    EXPECT_FALSE(h.allocate_large(200000, 16)->is_zero);
  }
  from.close();
}

TEST(SegmentHeap, BlocksOfAnotherHeapReturnToItInBatches) {
  segments from;
  {
    segment_heap mine(from);
    segment_heap other(from);
    std::vector<void*> blocks;
    for (int i = 0; i != 40; ++i) blocks.push_back(other.allocate(64, 8).data);
    const std::size_t granted = other.usage().granted;
    for (void* p : blocks) mine.deallocate(p);
    other.collect();
    EXPECT_EQ(other.usage().granted, granted - 32 * 64);
    mine.send_batch();
    other.collect();
    EXPECT_EQ(other.usage().granted, 0u);
  }
  from.close();
}

TEST(SegmentHeap, WhatOthersEndedServesTheNextRequests) {
  segments from;
  {
    segment_heap mine(from);
    segment_heap other(from);
    std::vector<void*> blocks;
    for (int i = 0; i != 2000; ++i) blocks.push_back(mine.allocate(64, 8).data);
    std::thread([&] {
      for (void* p : blocks) other.deallocate(p);
      other.send_batch();
    }).join();
    const std::size_t used = from.usage().used;
    for (int i = 0; i != 2000; ++i) ASSERT_TRUE(mine.allocate(64, 8));
    EXPECT_LE(from.usage().used, used);
    mine.receive(mine.allocate(64, 8).data);
    mine.collect();
    EXPECT_EQ(mine.usage().granted, 2000u * 64);
  }
  from.close();
}

TEST(SegmentHeap, OthersEndLargeBlocksAsSmallOnes) {
  segments from;
  {
    segment_heap h(from);
    void* const small = h.allocate(64, 8).data;
    void* const large = h.allocate(100000, 8).data;
    std::thread([&] {
      h.receive(large);
      h.receive(small);
    }).join();
    h.collect();
    EXPECT_EQ(h.usage().granted, 0u);
    EXPECT_FALSE(h.validate());
  }
  from.close();
}

TEST(SegmentHeap, ABatchHasBlocksOfAllSizes) {
  segments from;
  {
    segment_heap mine(from);
    segment_heap other(from);
    std::vector<void*> blocks;
    for (std::size_t size = 1; size != 1000; ++size)
      blocks.push_back(other.allocate(size * size % 3001, 8).data);
    for (void* p : blocks) mine.deallocate(p);
    mine.send_batch();
    other.collect();
    EXPECT_EQ(other.usage().granted, 0u);
  }
  from.close();
}

// Each thread has a heap, and ends what its neighbour has allocated.
#if MALLARD_CHECKS >= 2
TEST(SegmentHeapDeathTest, ABlockThatIsFreedTwiceIsFoundWhereAllEnd) {
  segment_heap heap;
  void* const p = heap.allocate(100, 8).data;
  ASSERT_TRUE(heap.allocate(100, 8));
  EXPECT_DEATH(
      {
        heap.deallocate(p);
        heap.deallocate(p);
        heap.release();
      },
      "validate");
}
#endif

TEST(SegmentHeap, ThreadsEndEachOthersBlocks) {
  constexpr std::size_t count = 4;
  constexpr int rounds = 40;
  constexpr int blocks = 500;
  segments from;
  std::vector<std::unique_ptr<segment_heap>> heaps;
  for (std::size_t i = 0; i != count; ++i) heaps.push_back(std::make_unique<segment_heap>(from));
  std::array<std::array<std::atomic<void*>, blocks>, count> mail{};
  std::vector<std::thread> threads;
  for (std::size_t me = 0; me != count; ++me)
    threads.emplace_back([&, me] {
      segment_heap& h = *heaps[me];
      const std::size_t next = (me + 1) % count;
      for (int r = 0; r != rounds; ++r)
        for (std::size_t i = 0; i != blocks; ++i) {
          const std::size_t size = 1 + (i * 37 + static_cast<std::size_t>(r)) % 3000;
          auto* const p = static_cast<std::size_t*>(h.allocate(std::max(size, sizeof(std::size_t)), 8).data);
          ASSERT_NE(p, nullptr);
          *p = me;
          void* old = mail[next][i].exchange(p, std::memory_order_acq_rel);
          if (old == nullptr) old = mail[me][i].exchange(nullptr, std::memory_order_acq_rel);
          if (old == nullptr) continue;
          EXPECT_LT(*static_cast<std::size_t*>(old), count);
          h.deallocate(old);
        }
      h.send_batch();
    });
  for (std::thread& t : threads) t.join();
  for (auto& box : mail)
    for (auto& slot : box)
      if (void* const p = slot.load(); p != nullptr) heaps[0]->deallocate(p);
  heaps[0]->send_batch();
  for (auto& h : heaps) {
    h->collect();
    EXPECT_EQ(h->usage().granted, 0u);
    const violation v = h->validate();
    EXPECT_FALSE(v) << v.what;
  }
  heaps.clear();
  EXPECT_EQ(from.usage().used, 0u);
  from.close();
}

}  // namespace
}  // namespace mallard
