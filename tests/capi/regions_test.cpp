// Regions and reaps behind mallard.h: what they can and what they cannot, and how they end with each other.
#include <array>
#include <cstdint>
#include <cstring>

#include "capi/handle.hpp"
#include "mallard.h"
#include "mallard/core/align.hpp"

namespace mallard::capi {
namespace {

class child {
 public:
  explicit child(mallard_heap* parent, unsigned flags = 0) {
    EXPECT_EQ(mallard_heap_create_child(&heap_, parent, flags), MALLARD_OK);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { mallard_heap_destroy(heap_); }

  [[nodiscard]] mallard_heap* get() const { return heap_; }

 private:
  mallard_heap* heap_ = nullptr;
};

std::size_t in_use(mallard_heap* heap) {
  mallard_heap_statistics told = MALLARD_HEAP_STATISTICS;
  EXPECT_EQ(mallard_heap_measure(heap, &told), MALLARD_OK);
  return told.in_use;
}

mallard_status child_of(const handle& parent, unsigned flags = 0) {
  mallard_heap* heap = nullptr;
  const mallard_status status = mallard_heap_create_child(&heap, parent.get(), flags);
  EXPECT_EQ(heap != nullptr, status == MALLARD_OK);
  mallard_heap_destroy(heap);
  return status;
}

TEST(CRegions, ARegionFreesNothingAndKnowsNoSizes) {
  const handle region(0, nullptr, 0, MALLARD_REGION);
  auto* const p = static_cast<char*>(mallard_heap_allocate(region.get(), 48));
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(mallard_heap_allocate(region.get(), 48), p + 48);
  mallard_heap_free(region.get(), p);
  EXPECT_EQ(mallard_heap_allocate(region.get(), 48), p + 96);
  EXPECT_EQ(mallard_heap_usable_size(region.get(), p), 0u);
  EXPECT_EQ(mallard_heap_reallocate(region.get(), p, 100), nullptr);
  EXPECT_NE(mallard_heap_reallocate(region.get(), nullptr, 100), nullptr);
  EXPECT_TRUE(is_aligned(mallard_heap_allocate_aligned(region.get(), 512, 100), 512));
  EXPECT_EQ(mallard_heap_validate(region.get()), nullptr);
  mallard_heap_clear(region.get());
  EXPECT_EQ(in_use(region.get()), 0u);
  EXPECT_EQ(mallard_heap_trim(region.get(), 0), 0u);
}

TEST(CRegions, ARegionServesManyAtOnceAndByCommand) {
  const handle region(0, nullptr, 0, MALLARD_REGION);
  mallard_chain chain = MALLARD_CHAIN;
  const std::array<std::size_t, 3> lengths = {1, 20, 300};
  EXPECT_TRUE(mallard_heap_allocate_nodes(region.get(), &chain, 100, 24, 8, 0));
  EXPECT_TRUE(mallard_heap_allocate_arrays(region.get(), &chain, lengths.data(), 3, 8, 8, 0));
  EXPECT_EQ(chain.count, 103u);
  mallard_heap_free_chain(region.get(), &chain);
  EXPECT_EQ(chain.count, 0u);
  const auto grown =
      mallard_heap_allocation_command(region.get(), MALLARD_ALLOCATE_NEW, 8, 8, 10, 20, nullptr);
  EXPECT_NE(grown.first, nullptr);
  EXPECT_EQ(
      mallard_heap_allocation_command(region.get(), MALLARD_EXPAND_FWD, 8, 8, 21, 30, grown.first).first,
      nullptr);
}

TEST(CRegions, NoBlockOfARegionIsAlignedToLess) {
  const handle region(0, nullptr, 0, MALLARD_REGION);
  const auto is_given = [](const void* p) { return p != nullptr && is_aligned(p, MALLARD_ALIGNMENT); };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(is_given(mallard_heap_allocate_aligned(region.get(), 1, 3)));
  mallard_chain chain = MALLARD_CHAIN;
  const std::array<std::size_t, 3> lengths = {9, 11, 13};
  ASSERT_TRUE(mallard_heap_allocate_nodes(region.get(), &chain, 3, 9, 1, 0));
  ASSERT_TRUE(mallard_heap_allocate_arrays(region.get(), &chain, lengths.data(), 3, 1, 1, 0));
  while (void* const p = mallard_chain_pop_front(&chain)) EXPECT_TRUE(is_given(p));
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(is_given(
        mallard_heap_allocation_command(region.get(), MALLARD_ALLOCATE_NEW, 3, 1, 1, 1, nullptr).first));
}

TEST(CRegions, AFailedBurstLeavesNothingInUse) {
  const handle region(0, nullptr, 0, MALLARD_REGION);
  ASSERT_NE(mallard_heap_allocate(region.get(), 100), nullptr);
  const std::size_t before = in_use(region.get());
  mallard_chain chain = MALLARD_CHAIN;
  const std::array<std::size_t, 3> lengths = {100000, 200000, SIZE_MAX / 2};
  EXPECT_FALSE(mallard_heap_allocate_arrays(region.get(), &chain, lengths.data(), 3, 1, 16, 0));
  EXPECT_FALSE(mallard_heap_allocate_nodes(region.get(), &chain, 3, SIZE_MAX / 2, 16, 0));
  EXPECT_EQ(chain.count, 0u);
  EXPECT_EQ(in_use(region.get()), before);
}

TEST(CRegions, AReapFreesAndReallocates) {
  const handle reap(0, nullptr, 0, MALLARD_REAP);
  void* const p = mallard_heap_allocate(reap.get(), 40);
  void* const other = mallard_heap_allocate(reap.get(), 40);
  std::memset(other, 7, 40);
  mallard_heap_free(reap.get(), p);
  EXPECT_EQ(mallard_heap_allocate(reap.get(), 40), p);
  EXPECT_GE(mallard_heap_usable_size(reap.get(), other), 40u);
  const auto* const moved = static_cast<const char*>(mallard_heap_reallocate(reap.get(), other, 4000));
  ASSERT_NE(moved, nullptr);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(moved[i], 7);
  EXPECT_EQ(mallard_heap_validate(reap.get()), nullptr);
}

TEST(CRegions, ChildrenEndWithTheirParent) {
  for (const unsigned kind : {MALLARD_REGION, MALLARD_REAP}) {
    auto* const parent = new handle(0, nullptr, 0, kind);
    const child first(parent->get());
    const child grandchild(first.get(), MALLARD_CLEARED_WITH_PARENT);
    for (mallard_heap* const heap : {first.get(), grandchild.get()})
      EXPECT_NE(mallard_heap_allocate(heap, 100), nullptr);
    delete parent;
    for (mallard_heap* const heap : {first.get(), grandchild.get()}) {
      EXPECT_EQ(mallard_heap_allocate(heap, 100), nullptr);
      EXPECT_EQ(in_use(heap), 0u);
      EXPECT_EQ(mallard_heap_validate(heap), nullptr);
    }
  }
}

TEST(CRegions, ChildrenAreClearedWithTheirParentIfTheyWereMadeSo) {
  for (const unsigned kind : {MALLARD_REGION, MALLARD_REAP}) {
    const handle parent(0, nullptr, 0, kind);
    const child cleared(parent.get(), MALLARD_CLEARED_WITH_PARENT);
    const child kept(parent.get());
    for (mallard_heap* const heap : {parent.get(), cleared.get(), kept.get()})
      ASSERT_NE(mallard_heap_allocate(heap, 100), nullptr);
    mallard_heap_clear(parent.get());
    EXPECT_EQ(in_use(parent.get()), 0u);
    EXPECT_EQ(in_use(cleared.get()), 0u);
    EXPECT_NE(in_use(kept.get()), 0u);
  }
}

TEST(CRegions, WhatCannotHaveChildrenSaysSo) {
  alignas(16) std::array<std::byte, 65536> buffer;
  EXPECT_EQ(child_of(handle()), MALLARD_INVALID_ARGUMENT) << "a best_fit";
  EXPECT_EQ(child_of(handle(MALLARD_LOCKED, nullptr, 0, MALLARD_REAP)), MALLARD_INVALID_ARGUMENT);
  EXPECT_EQ(child_of(handle(0, buffer.data(), buffer.size(), MALLARD_REGION)), MALLARD_INVALID_ARGUMENT);
  EXPECT_EQ(child_of(handle(0, nullptr, 0, MALLARD_REAP), MALLARD_LOCKED), MALLARD_INVALID_ARGUMENT);
  EXPECT_EQ(child_of(handle(0, nullptr, 0, MALLARD_REAP)), MALLARD_OK);
}

TEST(CRegions, CachesAreForBestFitOnly) {
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  options.flags = MALLARD_CACHED;
  for (const unsigned kind : {MALLARD_REGION, MALLARD_REAP}) {
    options.kind = kind;
    mallard_heap* heap = nullptr;
    EXPECT_EQ(mallard_heap_create(&heap, &options), MALLARD_INVALID_ARGUMENT);
  }
}

TEST(CRegions, TheyLieInABufferToo) {
  alignas(16) std::array<std::byte, 65536> buffer;
  for (const unsigned kind : {MALLARD_REGION, MALLARD_REAP}) {
    const handle heap(0, buffer.data(), buffer.size(), kind);
    const auto* const p = static_cast<const std::byte*>(mallard_heap_allocate(heap.get(), 1000));
    EXPECT_TRUE(buffer.data() <= p && p < buffer.data() + 4096 + 8192);
  }
}

}  // namespace
}  // namespace mallard::capi
