#include "mallard/thread/thread_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include "mallard/core/align.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/owned_pages.hpp"

namespace mallard {
namespace {

using pages = thread_pages<default_source>;

// One thread's heap, with memory for its magazines, or without.
template <class Heap>
struct alone {
  block allocate(std::size_t size, std::size_t align = 8) {
    return heap.allocate(size, align, [this](std::size_t, std::size_t bytes) -> std::byte* {
      if (refuses) return nullptr;
      places.emplace_back(bytes / sizeof(magazine::slot) + 8);
      auto* const p = reinterpret_cast<std::byte*>(places.back().data());
      return p + padding_for(p, cache_line);
    });
  }

  std::vector<magazine::slot> many(std::size_t count, std::size_t size) {
    std::vector<magazine::slot> blocks(count);
    for (magazine::slot& b : blocks) b = address_of(allocate(size).data);
    return blocks;
  }

  void give(const std::vector<magazine::slot>& blocks, std::size_t size) {
    for (std::size_t i = 0; i < blocks.size(); i += 8)
      heap.give(thread_heap<Heap>::classes::index(size, 8),
                std::span(blocks).subspan(i, std::min<std::size_t>(8, blocks.size() - i)));
  }

  bool refuses = false;
  std::vector<std::vector<magazine::slot>> places;
  typename pages::shared from;
  thread_heap<Heap> heap{from};
};

using multipools = alone<basic_multipool<pages, thread_heap_classes>>;

TEST(ThreadHeap, WhatWasGivenIsUsedBeforeWhatIsNew) {
  multipools one;
  std::vector<magazine::slot> blocks = one.many(320, 48);
  std::thread([&] { one.give(blocks, 48); }).join();
  std::vector<magazine::slot> again = one.many(320, 48);
  std::ranges::sort(blocks);
  std::ranges::sort(again);
  std::vector<magazine::slot> both;
  std::ranges::set_intersection(blocks, again, std::back_inserter(both));
  EXPECT_GE(both.size(), 320 - most_batch_blocks);
}

TEST(ThreadHeap, WhatWaitsIsNotInUseButForItsList) {
  multipools one;
  const std::vector<magazine::slot> blocks = one.many(100, 48);
  const block large = one.allocate(100000);
  const std::size_t granted = one.heap.usage().granted;
  one.give(blocks, 48);
  one.heap.give(large.data, 100000, 8);
  EXPECT_EQ(one.heap.usage().granted, granted - large.size);
  std::size_t waiting = 0;
  one.heap.for_each_waiting(thread_heap_classes::index(48, 8), [&](const void*) { return ++waiting != 0; });
  EXPECT_EQ(waiting, 100u);
  EXPECT_TRUE(one.heap.take_back());
  EXPECT_FALSE(one.heap.take_back());
  EXPECT_LE(one.heap.usage().granted, granted - large.size - 100 * 48);
}

// New blocks of others need the room that waits, before more pages are fetched.
TEST(ThreadHeap, AGrownHeapTakesBackWhatWaits) {
  multipools one;
  const std::vector<magazine::slot> blocks = one.many(10000, 48);
  one.give(blocks, 48);
  const std::size_t held = one.from.upstream().held();
  (void)one.many(600, 700);
  EXPECT_LE(one.from.upstream().held(), held + held / 8);
}

TEST(ThreadHeap, WithoutMemoryForMagazinesBlocksAreServedOneByOne) {
  multipools one;
  one.refuses = true;
  std::vector<magazine::slot> blocks = one.many(100, 48);
  std::ranges::sort(blocks);
  EXPECT_EQ(std::ranges::adjacent_find(blocks), blocks.end());
  EXPECT_NE(blocks.front(), 0u);
  EXPECT_EQ(one.heap.usage().granted, 100u * 48);
}

TEST(ThreadHeap, AloneNothingStaysInMagazines) {
  multipools one;
  const block b = one.heap.allocate_alone(48, 8);
  EXPECT_EQ(b.size, 48u);
  EXPECT_EQ(one.heap.usage().granted, 48u);
  EXPECT_EQ(one.heap.lists().count(thread_heap_classes::index(48, 8)), 0u);
}

// A heap that grants more than is asked for: its users know what they asked for, and so do the figures.
TEST(ThreadHeap, WhatIsGrantedBeyondASizeIsNotInUse) {
  alone<basic_best_fit<pages>> one;
  std::size_t sum = 0;
  std::vector<block> blocks;
  for (std::size_t i = 0; i < 200; ++i) {
    blocks.push_back(one.heap.allocate_alone(i * 37 % 3000 + 1, 8));
    sum += blocks.back().size;
    blocks.push_back(one.heap.allocate_alone(70000 + i, 8));
    sum += blocks.back().size;
    EXPECT_EQ(blocks.back().size, 70000 + i);
    ASSERT_EQ(one.heap.usage().granted, sum);
  }
  for (const block& b : blocks) {
    const magazine::slot p = address_of(b.data);
    if (thread_heap_classes::serves(b.size, 8))
      one.heap.deallocate_own(thread_heap_classes::index(b.size, 8), {&p, 1});
    else
      one.heap.deallocate_own(b.data, b.size, 8);
    sum -= b.size;
    ASSERT_EQ(one.heap.usage().granted, sum);
  }
}

}  // namespace
}  // namespace mallard
