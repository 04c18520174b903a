#include "mallard/heap/reap/with_slabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "mallard/core/growth.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

template <class Source>
class grown_heap : public with_slabs<basic_best_fit<Source, doubling<262144, 262144>>, 65536> {
  using base = with_slabs<basic_best_fit<Source, doubling<262144, 262144>>, 65536>;

 public:
  using base::base;

  void* take(std::size_t size, std::size_t align = 16) {
    block b = base::allocate_recent(size, align);
    if (!b) b = base::allocate(size, align);
    return b.data;
  }

  // Enough that blocks of this size lie in slabs.
  std::vector<void*> grow(std::size_t size, std::size_t count) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i) blocks.push_back(take(size));
    return blocks;
  }
};

using heap_type = grown_heap<default_source>;

void expect_valid(const heap_type& heap) {
  const violation v = heap.validate();
  EXPECT_FALSE(v) << v.what;
}

TEST(WithSlabs, BeginOnlyInAHeapThatHasGrown) {
  heap_type heap;
  heap.begin_slabs();
  EXPECT_EQ(heap.usage().held, 0u);
  const std::vector<void*> before = heap.grow(56, 100);
  EXPECT_EQ(heap.usable_size(before[0]), 56u) << "beside a tag";
  heap.begin_slabs();
  const std::vector<void*> blocks = heap.grow(56, 2000);
  EXPECT_EQ(heap.usable_size(blocks[0]), 56u) << "too few yet";
  EXPECT_EQ(heap.usable_size(blocks[1999]), 64u) << "a size class";
  expect_valid(heap);
}

TEST(WithSlabs, BlocksAreFreedByTheirAddressWhereverTheyLie) {
  heap_type heap;
  std::vector<void*> blocks = heap.grow(40, 500);
  heap.begin_slabs();
  for (std::size_t size : {40u, 700u, 5000u, 60000u})
    for (void* p : heap.grow(size, 40000 / size + 20)) blocks.push_back(p);
  for (void* p : blocks) std::memset(p, 0x5a, 40);
  expect_valid(heap);
  std::ranges::shuffle(blocks, std::mt19937(7));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    heap.deallocate(blocks[i]);
    if (i % 500 == 0) expect_valid(heap);
  }
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_EQ(heap.usage().carved, 0u);
  EXPECT_GT(heap.trim(0), 0u);
  EXPECT_EQ(heap.usage().held, 0u);
}

TEST(WithSlabs, ALargeBlockServesTheNextRequestOfItsSize) {
  heap_type heap;
  heap.grow(100, 1);
  heap.begin_slabs();
  void* const first = heap.take(5000);
  heap.deallocate(first);
  EXPECT_NE(heap.take(4000), first) << "it is not cut";
  EXPECT_EQ(heap.take(4990), first);
  expect_valid(heap);
}

// More than a 16th of what is held does not wait.
TEST(WithSlabs, LargeBlocksAreCoalescedWhenManyWait) {
  heap_type heap;
  heap.grow(100, 1);
  heap.begin_slabs();
  const std::vector<void*> blocks = heap.grow(2000, 100);
  for (void* p : blocks) heap.deallocate(p);
  EXPECT_EQ(heap.usage().held, 262144u);
  EXPECT_NE(heap.take(80000), nullptr);
  EXPECT_EQ(heap.usage().held, 262144u) << "they are one block";
}

TEST(WithSlabs, WhatWaitsGivesWayWhereMemoryIsShort) {
  alignas(64) static std::array<std::byte, 1 << 19> buffer;
  grown_heap<fixed_buffer> heap(buffer.data(), buffer.size());
  heap.grow(100, 1);
  heap.begin_slabs();
  std::vector<void*> blocks;
  for (void* p = nullptr; (p = heap.take(blocks.size() % 2 == 0 ? 2000 : 200)) != nullptr;)
    blocks.push_back(p);
  EXPECT_GT(blocks.size(), 200u);
  for (void* p : blocks) heap.deallocate(p);
  EXPECT_NE(heap.take(100000), nullptr);
}

TEST(WithSlabs, SlabsWithoutABlockGiveWayToLargeRequests) {
  heap_type heap;
  heap.grow(100, 1);
  heap.begin_slabs();
  const std::vector<void*> small = heap.grow(64, 40000);
  const std::size_t held = heap.usage().held;
  for (void* p : small) heap.deallocate(p);
  heap.grow(4000, 500);
  EXPECT_LE(heap.usage().held, held);
  expect_valid(heap);
}

// Holes of any size are used up before there is a new chunk for slabs.
TEST(WithSlabs, SmallBlocksUseWhatLargeOnesHaveLeft) {
  for (const std::size_t size : {4000u, 12000u, 30000u}) {
    heap_type heap;
    const std::vector<void*> large = heap.grow(size, 8000000 / size);
    heap.begin_slabs();
    for (std::size_t i = 0; i < large.size(); i += 2) heap.deallocate(large[i]);
    const std::size_t held = heap.usage().held;
    heap.grow(64, 3000000 / 64);
    EXPECT_LE(heap.usage().held, held + held / 8) << size;
    expect_valid(heap);
  }
}

// Where it is exhausted, the upstream is not asked with each request that is served.
TEST(WithSlabs, AnExhaustedUpstreamIsSeldomAsked) {
  grown_heap<failing<default_source>> heap;
  std::vector<void*> blocks = heap.grow(64, 20000);
  heap.begin_slabs();
  heap.upstream().fail_from(1);
  while (heap.take(64) != nullptr) {
  }
  std::mt19937 random(7);
  std::ranges::shuffle(blocks, random);
  for (std::size_t i = 0; i < 400; ++i) heap.deallocate(blocks[i]);
  const std::size_t before = heap.upstream().requests();
  for (std::size_t i = 400; i < 3000; ++i) {
    heap.deallocate(blocks[i]);
    ASSERT_NE(heap.take(16 + random() % 24), nullptr);
  }
  EXPECT_LT(heap.upstream().requests() - before, 200u);
}

// Although requests are rounded up as long as there is room.
TEST(WithSlabs, AFullHeapServesWhatFitsExactly) {
  alignas(64) static std::array<std::byte, 1 << 20> buffer;
  grown_heap<fixed_buffer> heap(buffer.data(), buffer.size());
  chain all;
  heap.grow(100, 1);
  heap.begin_slabs();
  heap.grow(64, 1000);
  while (heap.allocate_burst(all, 1, 5000, 16, 0)) {
  }
  ASSERT_GT(all.size(), 100u);
  while (heap.take(1000) != nullptr) {
  }
  for (std::size_t i = 0; i < 100; ++i) {
    heap.deallocate(all.pop_front());
    EXPECT_NE(heap.take(5000), nullptr) << i;
  }
}

TEST(WithSlabs, ABlockInASlabStaysOrMovesAsAsked) {
  heap_type heap;
  heap.grow(100, 1);
  heap.begin_slabs();
  void* const p = heap.grow(50, 1000).back();
  ASSERT_EQ(heap.usable_size(p), 64u);
  const auto ask = [&](std::size_t limit, std::size_t preferred, resize_way ways) {
    return heap.resize({p, 50, 16, limit, preferred, ways});
  };
  resize_result r = ask(60, 64, resize_way::expand_forward);
  EXPECT_TRUE(r.reused);
  EXPECT_EQ(r.memory, (block{p, 64}));
  EXPECT_FALSE(ask(65, 65, resize_way::expand_forward).memory);
  r = ask(65, 80, resize_way::expand_forward | resize_way::allocate_new);
  EXPECT_FALSE(r.reused);
  EXPECT_GE(r.memory.size, 80u);
  EXPECT_NE(r.memory.data, p);
  EXPECT_FALSE(ask(20, 10, resize_way::shrink).memory) << "it cannot give memory back";
  EXPECT_TRUE(ask(20, 10, resize_way::try_shrink).reused);
  EXPECT_TRUE(ask(64, 10, resize_way::shrink).reused);
}

TEST(WithSlabs, AChainMayHaveBlocksOfEveryKind) {
  heap_type heap;
  std::vector<void*> blocks = heap.grow(40, 10);
  heap.begin_slabs();
  for (std::size_t size : {40u, 5000u})
    for (void* p : heap.grow(size, 1000)) blocks.push_back(p);
  chain all;
  for (void* p : blocks) all.push_back(p);
  ASSERT_TRUE(heap.allocate_burst(all, 100, 40, 16, 4096));
  heap.deallocate_burst(all);
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(heap.usage().granted, 0u);
  expect_valid(heap);
}

TEST(WithSlabs, AClearForgetsThem) {
  heap_type heap;
  heap.grow(40, 10);
  heap.begin_slabs();
  heap.grow(40, 2000);
  heap.clear();
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_EQ(heap.usable_size(heap.grow(40, 2000).back()), 40u) << "tagged again";
  expect_valid(heap);
}

}  // namespace
}  // namespace mallard
