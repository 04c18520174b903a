// Heaps of segments behind mallard.h: whose they are, who may free, and what they cost.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "capi/handle.hpp"
#include "mallard.h"
#include "mallard/core/align.hpp"

namespace mallard::capi {
namespace {

constexpr std::size_t large = 100'000;  // has segments of its own

handle of_segments(unsigned flags = 0) { return handle(flags, nullptr, 0, MALLARD_SEGMENTS); }

mallard_status create(unsigned flags, void* buffer = nullptr, std::size_t buffer_size = 0) {
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  options.kind = MALLARD_SEGMENTS;
  options.flags = flags;
  options.buffer = buffer;
  options.buffer_size = buffer_size;
  mallard_heap* heap = nullptr;
  const mallard_status status = mallard_heap_create(&heap, &options);
  EXPECT_EQ(heap != nullptr, status == MALLARD_OK);
  mallard_heap_destroy(heap);
  return status;
}

TEST(CSegments, WhatTheyCannotHaveIsRefused) {
  std::array<std::byte, 1 << 14> buffer{};
  EXPECT_EQ(create(0), MALLARD_OK);
  EXPECT_EQ(create(MALLARD_LOCKED), MALLARD_OK);
  EXPECT_EQ(create(MALLARD_CACHED), MALLARD_INVALID_ARGUMENT);
  EXPECT_EQ(create(0, buffer.data(), buffer.size()), MALLARD_INVALID_ARGUMENT);
  EXPECT_EQ(create(0, nullptr, 1), MALLARD_INVALID_ARGUMENT);
  const handle heap = of_segments();
  mallard_heap* child = nullptr;
  EXPECT_EQ(mallard_heap_create_child(&child, heap.get(), 0), MALLARD_INVALID_ARGUMENT);
}

TEST(CSegments, AHeapThatIsNotUsedCostsAPage) {
  for (const unsigned flags : {0u, MALLARD_LOCKED}) {
    const handle heap = of_segments(flags);
    EXPECT_EQ(heap.statistics().held, 4096u);
    mallard_heap_free(heap.get(), mallard_heap_allocate(heap.get(), 100));
    EXPECT_GT(heap.statistics().held, 4096u);
    EXPECT_GT(mallard_heap_trim(heap.get(), 0), 0u);
    EXPECT_EQ(heap.statistics().held, 4096u);
  }
}

TEST(CSegments, ThousandsShareWhatIsFree) {
  std::vector<mallard_heap*> heaps(2000);
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  options.kind = MALLARD_SEGMENTS;
  for (mallard_heap*& heap : heaps) ASSERT_EQ(mallard_heap_create(&heap, &options), MALLARD_OK);
  std::uintptr_t lowest = UINTPTR_MAX;
  std::uintptr_t highest = 0;
  for (mallard_heap* const heap : heaps) {
    for (int i = 0; i != 1000; ++i) {
      void* const p = mallard_heap_allocate(heap, 1000);
      ASSERT_NE(p, nullptr);
      lowest = std::min(lowest, address_of(p));
      highest = std::max(highest, address_of(p));
    }
    mallard_heap_destroy(heap);
  }
  EXPECT_LT(highest - lowest, std::size_t{8} << 20) << "2 GB in turn, one of 2000 at a time";
}

TEST(CSegments, OthersFreeAndTheOwnerHasItBack) {
  const handle heap = of_segments();
  for (int round = 0; round != 3; ++round) {
    std::vector<void*> blocks;
    for (const std::size_t size : {std::size_t{1}, std::size_t{40}, std::size_t{3000}, large})
      for (int i = 0; i != 50; ++i) blocks.push_back(mallard_heap_allocate(heap.get(), size));
    mallard_chain nodes = MALLARD_CHAIN;
    ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &nodes, 100, 64, 16, 0));
    std::thread([&] {
      for (void* const p : blocks) {
        ASSERT_GT(mallard_heap_usable_size(heap.get(), p), 0u);
        mallard_heap_free(heap.get(), p);
      }
      mallard_heap_free_chain(heap.get(), &nodes);
    }).join();
    EXPECT_EQ(nodes.count, 0u);
    EXPECT_EQ(heap.statistics().in_use, 0u);
    EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
  }
}

// The owner allocates, fills and passes on; three threads look at what they got, and free it meanwhile.
TEST(CSegments, OthersFreeWhileTheOwnerIsAtWork) {
  constexpr std::size_t blocks = 40'000;
  const handle heap = of_segments();
  std::array<std::atomic<std::uint32_t*>, 64> places{};
  std::atomic<bool> is_over = false;
  const auto end_one = [&](std::size_t at) {
    std::uint32_t* const p = places[at % places.size()].exchange(nullptr, std::memory_order_acquire);
    if (p == nullptr) return;
    EXPECT_EQ(p[1], ~p[0]);
    mallard_heap_free(heap.get(), p);
  };
  std::vector<std::thread> others;
  for (std::size_t t = 0; t != 3; ++t)
    others.emplace_back([&, t] {
      for (std::size_t at = t * 17; !is_over.load(); ++at) end_one(at);
    });
  for (std::uint32_t i = 0; i != blocks; ++i) {
    const std::size_t size = i % 500 == 0 ? large : 8 + i * 37 % 2000;
    auto* p = static_cast<std::uint32_t*>(mallard_heap_allocate(heap.get(), size));
    ASSERT_NE(p, nullptr);
    p[0] = i;
    p[1] = ~i;
    p = places[i % places.size()].exchange(p, std::memory_order_acq_rel);
    if (p != nullptr) mallard_heap_free(heap.get(), p);
  }
  is_over = true;
  for (std::thread& t : others) t.join();
  for (std::size_t at = 0; at != places.size(); ++at) end_one(at);
  EXPECT_EQ(heap.statistics().in_use, 0u);
  EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
}

TEST(CSegments, AHeapIsHandedOver) {
  const handle heap = of_segments();
  void* const ours = mallard_heap_allocate(heap.get(), 100);
  std::thread([&] {
    mallard_heap_adopt(heap.get());
    mallard_heap_free(heap.get(), ours);
    EXPECT_EQ(mallard_heap_allocate(heap.get(), 100), ours) << "a free block is at the owner's hand";
  }).join();
  mallard_heap_free(heap.get(), ours);
  EXPECT_NE(mallard_heap_allocate(heap.get(), 100), ours) << "this thread is one of the others now";
  mallard_heap_clear(heap.get());
}

TEST(CSegments, ALargeBlockGrowsWhereItIs) {
  const handle heap = of_segments();
  auto* const p = static_cast<char*>(mallard_heap_allocate(heap.get(), large));
  std::memset(p, 3, large);
  auto* const grown = static_cast<char*>(mallard_heap_reallocate(heap.get(), p, 10 * large));
  EXPECT_EQ(grown, p);
  EXPECT_EQ(grown[large - 1], 3);
  const mallard_command_result told =
      mallard_heap_allocation_command(heap.get(), MALLARD_EXPAND_FWD, 1, 1, 11 * large, 12 * large, grown);
  EXPECT_TRUE(told.reused);
  EXPECT_GE(told.received, 11 * large);
}

// Another thread is mostly in the segments that all heaps share; an alarm ends a child that waits for it.
TEST(CSegments, AChildGoesOnWithAHeapThatNobodyWasIn) {
  const handle ours = of_segments();
  std::atomic<bool> is_over = false;
  std::thread busy([&] {
    const handle theirs = of_segments();
    while (!is_over.load()) mallard_heap_free(theirs.get(), mallard_heap_allocate(theirs.get(), large));
  });
  for (int i = 0; i != 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      bool is_served = true;
      for (int k = 0; k != 100; ++k) is_served &= mallard_heap_allocate(ours.get(), large) != nullptr;
      ::_exit(is_served ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  is_over = true;
  busy.join();
}

TEST(CSegments, ClearEndsAllAndKeepsNothing) {
  for (const unsigned flags : {0u, MALLARD_LOCKED}) {
    const handle heap = of_segments(flags);
    for (std::size_t size = 1; size < 500'000; size *= 2)
      ASSERT_NE(mallard_heap_allocate(heap.get(), size), nullptr);
    mallard_heap_clear(heap.get());
    EXPECT_EQ(heap.statistics().in_use, 0u);
    EXPECT_EQ(heap.statistics().held, 4096u);
    EXPECT_NE(mallard_heap_allocate(heap.get(), 100), nullptr);
  }
}

}  // namespace
}  // namespace mallard::capi
