#include "mallard/heap/multipool/segregate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "mallard/core/size_classes.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

using source = counting<memory_resource_source>;
using classes = size_classes<8, 128, 4, 4096>;
using heap_type =
    segregate<upstream_ref<source>, classes, doubling<4096, 4096>, proportional<512, 512, 8, 4096>>;

static_assert(heap<heap_type> && releasable<heap_type> && clearable<heap_type>);
static_assert(owning<heap_type> && predictable<heap_type> && inspectable<heap_type>);

class Segregate : public testing::Test {
 protected:
  source source_;
  heap_type heap_{source_};
};

TEST_F(Segregate, BlocksHaveTheSizeOfTheirClass) {
  for (std::size_t size = 0; size <= classes::largest; size += 7)
    for (std::size_t align : {1u, 8u, 16u, 64u}) {
      const block b = heap_.allocate(size, align);
      ASSERT_TRUE(b);
      EXPECT_EQ(b.size, classes::size(classes::index(size, align)));
      EXPECT_EQ(b.size, heap_.received_size(size, align));
      EXPECT_TRUE(is_aligned(b.data, align));
    }
  EXPECT_FALSE(heap_.validate());
}

TEST_F(Segregate, AFreedBlockServesItsClassAndNoOther) {
  const block b = heap_.allocate(40, 8);
  heap_.deallocate(b.data, 33, 8);
  EXPECT_NE(heap_.allocate(41, 8).data, b.data);
  EXPECT_NE(heap_.allocate(32, 8).data, b.data);
  EXPECT_EQ(heap_.allocate(33, 8).data, b.data);
}

// Of a size that is carved one by one.
TEST_F(Segregate, TheLastBlockFreedIsTheFirstReused) {
  const block a = heap_.allocate(640, 8);
  const block b = heap_.allocate(640, 8);
  EXPECT_FALSE(heap_.allocate_fast(640, 8));
  EXPECT_TRUE(heap_.deallocate_fast(a.data, 640, 8));
  EXPECT_TRUE(heap_.deallocate_fast(b.data, 640, 8));
  EXPECT_EQ(heap_.allocate_fast(640, 8), b);
  EXPECT_EQ(heap_.allocate_fast(640, 8), a);
  EXPECT_FALSE(heap_.allocate_fast(640, 8));
}

TEST_F(Segregate, TheInlinePartsLeaveOtherRequestsAlone) {
  for (auto [size, align] :
       {std::pair{classes::small + 1, std::size_t{8}}, {std::size_t{8}, 2 * classes::max_align}}) {
    EXPECT_FALSE(heap_.allocate_fast(size, align));
    EXPECT_FALSE(heap_.deallocate_fast(this, size, align));
  }
}

TEST_F(Segregate, WhatHasNoClassIsNull) {
  EXPECT_EQ(heap_.allocate(classes::largest + 1, 8), block{});
  EXPECT_EQ(heap_.allocate(8, 2 * classes::max_align), block{});
  EXPECT_EQ(source_.max_held(), 0u);
}

TEST_F(Segregate, LiveBlocksAreFoundByWalking) {
  const block a = heap_.allocate(100, 8);
  const block b = heap_.allocate(3000, 8);
  EXPECT_EQ(heap_.usage(), (heap_usage{source_.held(), 104 + 3072, 104 + 3072}));
  heap_.deallocate(a.data, 100, 8);
  EXPECT_EQ(heap_.usage().granted, 3072u);
  heap_.deallocate(b.data, 3000, 8);
  EXPECT_EQ(heap_.usage(), (heap_usage{source_.held(), 0, 0}));
}

TEST_F(Segregate, ABurstIsTakenBackWhole) {
  chain burst;
  for (int i = 0; i < 10; ++i) burst.push_back(heap_.allocate(24, 8).data);
  void* const first = burst.front();
  heap_.deallocate_burst(burst, 24, 8);
  EXPECT_TRUE(burst.empty());
  EXPECT_EQ(heap_.usage().granted, 0u);
  EXPECT_FALSE(heap_.validate());
  EXPECT_EQ(heap_.allocate(24, 8).data, first);
}

TEST_F(Segregate, ClearKeepsChunksReleaseDoesNot) {
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(48, 8);
  heap_.deallocate(heap_.allocate(48, 8).data, 48, 8);
  const std::size_t held = source_.held();
  heap_.clear();
  EXPECT_FALSE(heap_.validate());
  EXPECT_EQ(heap_.usage(), (heap_usage{held, 0, 0}));
  for (int i = 0; i < 1000; ++i) (void)heap_.allocate(48, 8);
  EXPECT_EQ(source_.held(), held);
  heap_.release();
  EXPECT_EQ(source_.held(), 0u);
  EXPECT_FALSE(heap_.validate());
  EXPECT_TRUE(heap_.allocate(48, 8));
}

TEST_F(Segregate, ADoubleFreeIsReported) {
  const block b = heap_.allocate(48, 8);
  heap_.deallocate(b.data, 48, 8);
  EXPECT_FALSE(heap_.validate());
  heap_.deallocate(b.data, 48, 8);
  EXPECT_TRUE(heap_.validate());
}

TEST_F(Segregate, AFreeWithTheSizeOfAnotherClassIsReported) {
  const block b = heap_.allocate(48, 8);
  (void)heap_.allocate(100, 8);
  heap_.deallocate(b.data, 100, 8);
  EXPECT_TRUE(heap_.validate());
}

// Blocks whose place is not noted, each beside one of another size.
class SegregateSingles : public Segregate {
 protected:
  void* allocate(std::size_t size) { return heap_.allocate(size, 8).data; }
};

TEST_F(SegregateSingles, BlocksOfDifferentSizesFollowEachOther) {
  auto* const first = static_cast<std::byte*>(allocate(160));
  EXPECT_EQ(allocate(192), first + (address_of(first) % 64 == 32 ? 160 : 192));
  EXPECT_EQ(heap_.statistics(classes::index(160, 8)).carved, 1u);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(SegregateSingles, ADoubleFreeIsReported) {
  void* const p = allocate(160);
  (void)allocate(160);
  heap_.deallocate(p, 160, 8);
  EXPECT_FALSE(heap_.validate());
  heap_.deallocate(p, 160, 8);
  EXPECT_TRUE(heap_.validate());
}

TEST_F(SegregateSingles, ABlockMoreThanThereAreIsReported) {
  void* const p = allocate(160);
  heap_.deallocate(p, 192, 8);
  EXPECT_TRUE(heap_.validate());
}

TEST_F(SegregateSingles, AFreeWithALargerSizeIsReportedWhenItsNeighbourIsFree) {
  void* const p = allocate(160);
  void* const behind = allocate(160);
  (void)allocate(320);
  heap_.deallocate(p, 320, 8);
  heap_.deallocate(behind, 160, 8);
  EXPECT_TRUE(heap_.validate());
}

TEST_F(SegregateSingles, ABlockOfARunIsReported) {
  void* const p = allocate(64);
  (void)allocate(160);
  heap_.deallocate(p, 160, 8);
  EXPECT_TRUE(heap_.validate());
}

TEST_F(SegregateSingles, WhatIsNoBlockIsNotFollowed) {
  void* const p = allocate(192);
  (void)allocate(192);
  heap_.deallocate(p, 192, 8);
  for (const std::uintptr_t wild : {address_of(p) + 8, std::uintptr_t{0x1240}, address_of(p) + 65536}) {
    std::memcpy(p, &wild, sizeof wild);
    EXPECT_TRUE(heap_.validate()) << wild;
  }
}

TEST_F(SegregateSingles, ABurstIsAdjacent) {
  (void)allocate(192);
  chain burst;
  ASSERT_TRUE(heap_.allocate_burst(burst, 4, 192, 8, 4 * 192));
  auto* const first = static_cast<std::byte*>(burst.pop_front());
  for (std::byte* p = first + 192; !burst.empty(); p += 192) EXPECT_EQ(burst.pop_front(), p);
  EXPECT_EQ(heap_.statistics(classes::index(192, 8)).carved, 5u);
  EXPECT_FALSE(heap_.validate());
}

class SegregateInSlabs : public testing::Test {
 protected:
  SegregateInSlabs() {
    for (void*& p : blocks_) p = heap_.allocate(48, 8).data;
  }

  source source_;
  segregate<upstream_ref<source>, classes, doubling<4096, 65536>, proportional<512, 512, 8, 4096>,
            intrusive_stack, 8192>
      heap_{source_};
  std::array<void*, 20000> blocks_;
};

// A free block has no links, so it can be written to: only what lies before and behind the blocks can be
// lost.
TEST_F(SegregateInSlabs, AWriteInFrontOfASlabsBlocksIsReported) {
  for (std::size_t i = 0; i < 5000; i += 2) heap_.deallocate(blocks_[i], 48, 8);
  EXPECT_FALSE(heap_.validate());
  std::memset(blocks_[3000], 0xff, 48);
  EXPECT_FALSE(heap_.validate());
  auto* const bits = reinterpret_cast<std::byte*>(address_of(blocks_[3000]) & ~std::uintptr_t{8191}) + 64;
  std::memset(bits, 0xff, 8);
  EXPECT_TRUE(heap_.validate());
}

class SegregateFreedTwice : public SegregateInSlabs, public testing::WithParamInterface<std::size_t> {};

TEST_P(SegregateFreedTwice, IsReportedInAMagazineAndWhereItGoesFromThere) {
  void* const twice = blocks_[GetParam()];
  heap_.deallocate(twice, 48, 8);
  EXPECT_FALSE(heap_.validate());
  heap_.deallocate(twice, 48, 8);
  EXPECT_TRUE(heap_.validate()) << "in a magazine";
  EXPECT_TRUE(heap_.deallocate_fast(heap_.allocate_fast(48, 8).data, 48, 8));
  ASSERT_EQ(heap_.allocate_fast(48, 8).data, twice);
  for (std::size_t i = 2; i < 1000; ++i) heap_.deallocate(blocks_[i * 2 + 1], 48, 8);
  EXPECT_FALSE(heap_.validate());
  heap_.deallocate(twice, 48, 8);
  EXPECT_TRUE(heap_.validate()) << "behind one";
}

// In a run, which all classes share, and in a slab.
INSTANTIATE_TEST_SUITE_P(Blocks, SegregateFreedTwice, testing::Values(0u, 10000u));

TEST_F(SegregateInSlabs, ABlockOfAnotherClassIsReported) {
  heap_.deallocate(blocks_[10000], 64, 8);
  EXPECT_TRUE(heap_.validate());
}

TEST_F(SegregateInSlabs, BlocksAreCountedWhereverTheyWait) {
  const std::size_t index = classes::index(48, 8);
  EXPECT_EQ(heap_.statistics(index).live(), blocks_.size());
  for (std::size_t i = 0; i < 5000; ++i) heap_.deallocate(blocks_[3 * i], 48, 8);
  EXPECT_EQ(heap_.statistics(index).live(), blocks_.size() - 5000);
  EXPECT_EQ(heap_.usage().granted, (blocks_.size() - 5000) * 48);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(SegregateInSlabs, AClassThatBeginsWithABurstGetsItsMagazineWithTheNextBlock) {
  chain burst;
  ASSERT_TRUE(heap_.allocate_burst(burst, 1, 192, 8, 192));
  void* const next = heap_.allocate(192, 8).data;
  EXPECT_TRUE(heap_.deallocate_fast(next, 192, 8));
  EXPECT_EQ(heap_.allocate_fast(192, 8).data, next);
}

TEST_F(Segregate, AnOverwrittenFreeBlockIsReported) {
  const block b = heap_.allocate(48, 8);
  heap_.deallocate(b.data, 48, 8);
  std::uintptr_t inside = address_of(b.data) + 8;
  std::memcpy(b.data, &inside, sizeof inside);
  EXPECT_TRUE(heap_.validate());
}

}  // namespace
}  // namespace mallard
