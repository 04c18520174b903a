// Whole heaps: what can be asked for, where they lie, how they end, what they tell.
#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "capi/handle.hpp"
#include "mallard.h"
#include "mallard/core/align.hpp"

namespace mallard::capi {
namespace {

mallard_status create(const mallard_heap_options& options) {
  mallard_heap* heap = nullptr;
  const mallard_status status = mallard_heap_create(&heap, &options);
  EXPECT_EQ(heap != nullptr, status == MALLARD_OK);
  mallard_heap_destroy(heap);
  return status;
}

mallard_heap_options usual() { return MALLARD_HEAP_OPTIONS; }

TEST(CHeap, NoOptionsAreTheUsualOnes) {
  mallard_heap* heap = nullptr;
  ASSERT_EQ(mallard_heap_create(&heap, nullptr), MALLARD_OK);
  void* const p = mallard_heap_allocate(heap, 100);
  ASSERT_NE(p, nullptr);
  std::memset(p, 1, 100);
  mallard_heap_free(heap, p);
  mallard_heap_destroy(heap);
  EXPECT_EQ(create(usual()), MALLARD_OK);
}

TEST(CHeap, WhatIsNotKnownIsRefused) {
  mallard_heap_options options = usual();
  options.kind = 7;
  EXPECT_EQ(create(options), MALLARD_INVALID_ARGUMENT);
  options = usual();
  options.flags = MALLARD_LOCKED | MALLARD_CACHED | 0x80;
  EXPECT_EQ(create(options), MALLARD_INVALID_ARGUMENT);
  options = usual();
  options.buffer_size = 1 << 20;
  EXPECT_EQ(create(options), MALLARD_INVALID_ARGUMENT) << "a size without a buffer";
  for (const std::size_t size : {std::size_t{0}, sizeof(mallard_heap_options) - 1}) {
    options = usual();
    options.size = size;
    EXPECT_EQ(create(options), MALLARD_INVALID_ARGUMENT) << "no version's options have " << size << " bytes";
  }
}

// A size that can only be a mistake is not believed: nothing is read so far behind a struct.
TEST(CHeap, NoStructIsThatLarge) {
  struct {
    mallard_heap_options options = MALLARD_HEAP_OPTIONS;
    std::array<std::byte, 4096> behind{};
  } asked;
  asked.options.size = 1025;
  EXPECT_EQ(create(asked.options), MALLARD_INVALID_ARGUMENT);
  asked.options.size = 1024;
  EXPECT_EQ(create(asked.options), MALLARD_OK);
  mallard_heap_statistics told = MALLARD_HEAP_STATISTICS;
  told.size = 4096;
  EXPECT_EQ(mallard_heap_measure(handle().get(), &told), MALLARD_INVALID_ARGUMENT);
}

// Options of a later header: what they leave as it is by default does no harm.
TEST(CHeap, LaterOptionsMayWantNothingNew) {
  struct later {
    mallard_heap_options known = MALLARD_HEAP_OPTIONS;
    std::size_t unknown = 0;
  } options;
  options.known.size = sizeof options;
  mallard_heap* heap = nullptr;
  EXPECT_EQ(mallard_heap_create(&heap, &options.known), MALLARD_OK);
  mallard_heap_destroy(heap);
  options.unknown = 1;
  EXPECT_EQ(mallard_heap_create(&heap, &options.known), MALLARD_INVALID_ARGUMENT);
  EXPECT_EQ(heap, nullptr);
}

TEST(CHeap, ABufferIsAllThereIs) {
  constexpr std::size_t size = 1 << 16;
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
  for (const std::size_t odd : {0u, 1u, 7u, 24u}) {
    const handle heap(0, memory.get() + odd, size - odd);
    std::size_t blocks = 0;
    while (void* const p = mallard_heap_allocate(heap.get(), 1000)) {
      const std::size_t from_begin = address_of(p) - address_of(memory.get());
      ASSERT_LE(from_begin + 1000, size);
      std::memset(p, 1, 1000);
      ++blocks;
    }
    EXPECT_GT(blocks * 1000, size * 4 / 5) << "no more than a fifth is lost";
    EXPECT_LE(heap.statistics().held, size);
    EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
  }
}

TEST(CHeap, ItselfItTakesLessThanAPageOfItsBuffer) {
  alignas(64) std::array<std::byte, 4096> memory{};
  for (const unsigned flags : {0u, MALLARD_LOCKED, MALLARD_CACHED}) {
    const handle heap(flags, memory.data(), memory.size());
    EXPECT_GT(heap.statistics().held, 0u);
    EXPECT_NE(mallard_heap_allocate(heap.get(), 64), nullptr) << flags;
  }
}

TEST(CHeap, ABufferTooSmallForTheHeapIsOutOfMemory) {
  alignas(64) std::array<std::byte, 512> memory{};
  for (const std::size_t size : {0u, 1u, 16u, 512u}) {
    mallard_heap_options options = usual();
    options.buffer = memory.data();
    options.buffer_size = size;
    EXPECT_EQ(create(options), MALLARD_OUT_OF_MEMORY) << size;
  }
}

TEST(CHeap, AnExhaustedHeapServesWhatItStillCan) {
  std::vector<std::byte> memory(1 << 15);
  const handle heap(0, memory.data(), memory.size());
  void* const kept = mallard_heap_allocate(heap.get(), 200);
  std::memset(kept, 7, 200);
  std::vector<void*> all;
  while (void* const p = mallard_heap_allocate(heap.get(), 200)) all.push_back(p);
  EXPECT_EQ(mallard_heap_allocate_aligned(heap.get(), 64, 4000), nullptr);
  EXPECT_EQ(mallard_heap_reallocate(heap.get(), kept, 4000), nullptr);
  mallard_chain chain = MALLARD_CHAIN;
  EXPECT_FALSE(mallard_heap_allocate_nodes(heap.get(), &chain, 50, 200, 16, MALLARD_CONTIGUOUS_DEFAULT));
  EXPECT_EQ(chain.count, 0u);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(static_cast<unsigned char*>(kept)[i], 7);
  mallard_heap_free(heap.get(), all.back());
  EXPECT_NE(mallard_heap_allocate(heap.get(), 200), nullptr);
  mallard_heap_clear(heap.get());
  EXPECT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 50, 200, 16, MALLARD_CONTIGUOUS_DEFAULT));
}

TEST(CHeap, NothingIsNoHeap) { mallard_heap_destroy(nullptr); }

TEST(CHeap, ClearEndsAllBlocksAndKeepsTheirMemory) {
  const handle heap;
  for (int i = 0; i < 1000; ++i) ASSERT_NE(mallard_heap_allocate(heap.get(), 100), nullptr);
  ASSERT_NE(mallard_heap_allocate(heap.get(), 1 << 20), nullptr);
  const std::size_t held = heap.statistics().held;
  mallard_heap_clear(heap.get());
  const mallard_heap_statistics after = heap.statistics();
  EXPECT_EQ(after.in_use, 0u);
  EXPECT_GT(after.cached, 100'000u);
  EXPECT_LE(after.held, held - (1 << 20)) << "blocks above 128 KiB go back";
  EXPECT_GT(mallard_heap_trim(heap.get(), 0), 100'000u);
  EXPECT_EQ(heap.statistics().cached, 0u);
}

TEST(CHeap, TrimKeepsWhatItIsTold) {
  const handle heap;
  for (int i = 0; i < 10'000; ++i) ASSERT_NE(mallard_heap_allocate(heap.get(), 100), nullptr);
  mallard_heap_clear(heap.get());
  const std::size_t held = heap.statistics().held;
  const std::size_t returned = mallard_heap_trim(heap.get(), 300'000);
  EXPECT_GT(returned, 0u);
  EXPECT_EQ(held - heap.statistics().held, returned);
  EXPECT_LE(heap.statistics().cached, 300'000u);
  EXPECT_GT(heap.statistics().cached, 0u);
}

// What a thread frees is its own again, and others' when it has ended.
TEST(CHeap, ACachedHeapKeepsWhatAThreadFreesForItUntilItsEnd) {
  for (const unsigned flags : {MALLARD_CACHED, MALLARD_CACHED | MALLARD_LOCKED}) {
    const handle heap(flags);
    void* const ours = mallard_heap_allocate(heap.get(), 100);
    mallard_heap_free(heap.get(), ours);
    void* theirs = nullptr;
    std::thread([&] {
      theirs = mallard_heap_allocate(heap.get(), 100);
      mallard_heap_free(heap.get(), theirs);
      EXPECT_EQ(mallard_heap_allocate(heap.get(), 100), theirs);
    }).join();
    EXPECT_NE(theirs, ours);
    EXPECT_EQ(mallard_heap_allocate(heap.get(), 100), ours);
    mallard_heap_free(heap.get(), ours);
    mallard_heap_free(heap.get(), theirs);
    EXPECT_EQ(heap.statistics().in_use, 0u);
    EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
    EXPECT_GT(mallard_heap_trim(heap.get(), 0), 0u);
    EXPECT_LE(heap.statistics().held, 4096u) << "the page it lies in";
  }
}

TEST(CHeap, StatisticsAddUp) {
  const handle heap;
  EXPECT_EQ(heap.statistics().in_use, 0u);
  EXPECT_EQ(heap.statistics().cached, 0u);
  EXPECT_EQ(heap.statistics().held, 4096u) << "the page it lies in";
  std::size_t usable = 0;
  void* freed = nullptr;
  for (std::size_t size = 1; size < 100'000; size *= 3) {
    void* const p = mallard_heap_allocate(heap.get(), size);
    usable += mallard_heap_usable_size(heap.get(), p);
    freed = p;
  }
  const mallard_heap_statistics full = heap.statistics();
  EXPECT_EQ(full.in_use, usable);
  EXPECT_LE(full.in_use + full.cached, full.held);
  const std::size_t last = mallard_heap_usable_size(heap.get(), freed);
  mallard_heap_free(heap.get(), freed);
  EXPECT_EQ(heap.statistics().in_use, usable - last);
}

// A program that was built against a later header gets what this version knows, an earlier one what it has
// room for; here there is none earlier.
TEST(CHeap, StatisticsOfAnotherVersionAreFilledAsFarAsKnown) {
  const handle heap;
  struct later {
    mallard_heap_statistics known = MALLARD_HEAP_STATISTICS;
    std::size_t unknown = 42;
  } told;
  told.known.size = sizeof told;
  EXPECT_EQ(mallard_heap_measure(heap.get(), &told.known), MALLARD_OK);
  EXPECT_EQ(told.known.held, 4096u);
  EXPECT_EQ(told.known.size, sizeof told);
  EXPECT_EQ(told.unknown, 42u);
  mallard_heap_statistics none = MALLARD_HEAP_STATISTICS;
  none.size = sizeof(std::size_t);
  EXPECT_EQ(mallard_heap_measure(heap.get(), &none), MALLARD_INVALID_ARGUMENT);
  EXPECT_EQ(none.held, 0u);
}

TEST(CHeap, ValidateTellsOfWhatWasWrittenInFrontOfABlock) {
  const handle heap;
  void* const p = mallard_heap_allocate(heap.get(), 100);
  ASSERT_NE(mallard_heap_allocate(heap.get(), 2000), nullptr);
  EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
  std::array<std::byte, 8> before{};
  std::byte* const front = static_cast<std::byte*>(p) - before.size();
  std::memcpy(before.data(), front, before.size());
  std::memset(front, 0x5a, before.size());
  const char* const wrong = mallard_heap_validate(heap.get());
  std::memcpy(front, before.data(), before.size());
  ASSERT_NE(wrong, nullptr);
  EXPECT_GT(std::strlen(wrong), 10u);
}

}  // namespace
}  // namespace mallard::capi
