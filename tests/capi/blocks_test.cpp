// Blocks: one, one that changes its size, and many.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "capi/handle.hpp"
#include "mallard.h"
#include "mallard/core/align.hpp"

namespace mallard::capi {
namespace {

constexpr std::size_t absurd[] = {SIZE_MAX, SIZE_MAX - 40, SIZE_MAX / 2, SIZE_MAX / 2 - 4096};

TEST(CBlocks, AreAlignedAndOnesOwn) {
  const handle heap;
  std::set<void*> all;
  for (const std::size_t size : {0u, 0u, 1u, 24u, 25u, 1000u, 70'000u, 200'000u}) {
    void* const p = mallard_heap_allocate(heap.get(), size);
    ASSERT_NE(p, nullptr);
    EXPECT_TRUE(is_aligned(p, MALLARD_ALIGNMENT));
    EXPECT_TRUE(all.insert(p).second);
    const std::size_t usable = mallard_heap_usable_size(heap.get(), p);
    EXPECT_GE(usable, std::max<std::size_t>(size, 1));
    std::memset(p, 3, usable);
  }
  EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
  for (void* const p : all) mallard_heap_free(heap.get(), p);
  EXPECT_EQ(heap.statistics().in_use, 0u);
}

TEST(CBlocks, HaveTheAlignmentAskedFor) {
  const handle heap;
  for (std::size_t align = 1; align <= 1 << 20; align *= 2) {
    void* const p = mallard_heap_allocate_aligned(heap.get(), align, 100);
    ASSERT_NE(p, nullptr) << align;
    EXPECT_TRUE(is_aligned(p, align));
    EXPECT_TRUE(is_aligned(p, MALLARD_ALIGNMENT));
  }
  for (const std::size_t none : {std::size_t{0}, std::size_t{3}, std::size_t{48}, SIZE_MAX})
    EXPECT_EQ(mallard_heap_allocate_aligned(heap.get(), none, 100), nullptr) << none;
}

TEST(CBlocks, AbsurdSizesAreNull) {
  const handle heap;
  void* const p = mallard_heap_allocate(heap.get(), 10);
  for (const std::size_t size : absurd) {
    EXPECT_EQ(mallard_heap_allocate(heap.get(), size), nullptr);
    EXPECT_EQ(mallard_heap_allocate_aligned(heap.get(), 4096, size), nullptr);
    EXPECT_EQ(mallard_heap_allocate_aligned(heap.get(), (SIZE_MAX >> 1) + 1, size), nullptr);
    EXPECT_EQ(mallard_heap_reallocate(heap.get(), p, size), nullptr);
  }
  EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
}

TEST(CBlocks, NullIsNoBlock) {
  const handle heap;
  mallard_heap_free(heap.get(), nullptr);
  EXPECT_EQ(mallard_heap_usable_size(heap.get(), nullptr), 0u);
  void* const p = mallard_heap_reallocate(heap.get(), nullptr, 50);
  EXPECT_GE(mallard_heap_usable_size(heap.get(), p), 50u);
}

TEST(CBlocks, ReallocateTakesTheContentsAlong) {
  const handle heap;
  auto* p = static_cast<unsigned char*>(mallard_heap_allocate(heap.get(), 1));
  std::size_t written = 1;
  p[0] = 0;
  std::vector<void*> others;
  for (const std::size_t size : {100u, 40u, 5000u, 200'000u, 400'000u, 300u, 90'000u, 7u}) {
    others.push_back(mallard_heap_allocate(heap.get(), size / 3));
    p = static_cast<unsigned char*>(mallard_heap_reallocate(heap.get(), p, size));
    ASSERT_NE(p, nullptr);
    for (std::size_t i = 0; i < std::min(written, size); ++i)
      ASSERT_EQ(p[i], static_cast<unsigned char>(i)) << size;
    for (written = 0; written < size; ++written) p[written] = static_cast<unsigned char>(written);
    if (others.size() % 2 == 0) mallard_heap_free(heap.get(), others[others.size() / 2]);
  }
  EXPECT_LT(mallard_heap_usable_size(heap.get(), p), 100u) << "what is given up is free again";
}

constexpr unsigned in_place = MALLARD_EXPAND_FWD | MALLARD_EXPAND_BWD;

mallard_command_result command(const handle& heap, unsigned ways, std::size_t limit, std::size_t preferred,
                               void* reuse, std::size_t size = 12, std::size_t align = 4) {
  return mallard_heap_allocation_command(heap.get(), ways, size, align, limit, preferred, reuse);
}

TEST(CCommand, GrowsForwardWhereThereIsRoom) {
  const handle heap;
  void* const p = mallard_heap_allocate(heap.get(), 10 * 12);
  const mallard_command_result grown = command(heap, in_place | MALLARD_ALLOCATE_NEW, 11, 50, p);
  EXPECT_EQ(grown.first, p);
  EXPECT_TRUE(grown.reused);
  EXPECT_GE(grown.received, 50u);
  EXPECT_EQ(grown.received, mallard_heap_usable_size(heap.get(), p) / 12);
}

TEST(CCommand, GrowsBackwardByWholeObjects) {
  const handle heap;
  void* const before = mallard_heap_allocate(heap.get(), 960);
  void* const p = mallard_heap_allocate(heap.get(), 10 * 12);
  ASSERT_NE(mallard_heap_allocate(heap.get(), 100), nullptr);
  std::memset(p, 9, 120);
  EXPECT_EQ(command(heap, MALLARD_EXPAND_BWD, 20, 60, p).first, nullptr) << "the one before lives";
  mallard_heap_free(heap.get(), before);
  EXPECT_EQ(command(heap, MALLARD_EXPAND_FWD, 20, 60, p).first, nullptr) << "the one behind lives";
  const mallard_command_result grown = command(heap, in_place, 20, 60, p);
  ASSERT_NE(grown.first, nullptr);
  EXPECT_TRUE(grown.reused);
  EXPECT_GE(grown.received, 60u);
  ASSERT_LT(grown.first, p);
  EXPECT_EQ((address_of(p) - address_of(grown.first)) % 12, 0u);
  const auto* const old = static_cast<unsigned char*>(p);
  EXPECT_TRUE(std::all_of(old, old + 120, [](unsigned char c) { return c == 9; })) << "nothing was moved";
  std::memmove(grown.first, p, 120);
  mallard_heap_free(heap.get(), grown.first);
  EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
}

TEST(CCommand, ANewBlockLeavesTheOldOneAlive) {
  const handle heap;
  void* const p = mallard_heap_allocate(heap.get(), 10 * 12);
  ASSERT_NE(mallard_heap_allocate(heap.get(), 100), nullptr);
  const mallard_command_result fresh =
      command(heap, MALLARD_ALLOCATE_NEW | MALLARD_NOTHROW_ALLOCATION, 20, 40, p);
  ASSERT_NE(fresh.first, nullptr);
  EXPECT_NE(fresh.first, p);
  EXPECT_FALSE(fresh.reused);
  EXPECT_GE(fresh.received, 40u);
  mallard_heap_free(heap.get(), p);
  mallard_heap_free(heap.get(), fresh.first);
  const mallard_command_result from_nothing = command(heap, in_place | MALLARD_ALLOCATE_NEW, 5, 5, nullptr);
  EXPECT_NE(from_nothing.first, nullptr);
  EXPECT_FALSE(from_nothing.reused);
  EXPECT_EQ(command(heap, in_place, 5, 5, nullptr).first, nullptr);
}

TEST(CCommand, WhatIsPreferredFailingTheLimitWillDo) {
  std::vector<std::byte> memory(1 << 14);
  const handle heap(0, memory.data(), memory.size());
  const mallard_command_result some = command(heap, MALLARD_ALLOCATE_NEW, 100, 1 << 20, nullptr);
  ASSERT_NE(some.first, nullptr);
  EXPECT_GE(some.received, 100u);
  EXPECT_EQ(command(heap, MALLARD_ALLOCATE_NEW, 1 << 20, 1 << 20, nullptr).first, nullptr);
}

TEST(CCommand, ShrinksWhereItIs) {
  const handle heap;
  void* const p = mallard_heap_allocate(heap.get(), 1000 * 12);
  ASSERT_NE(mallard_heap_allocate(heap.get(), 100), nullptr);
  const std::size_t in_use = heap.statistics().in_use;
  const mallard_command_result less = command(heap, MALLARD_SHRINK_IN_PLACE, 100, 50, p);
  EXPECT_EQ(less.first, p);
  EXPECT_TRUE(less.reused);
  EXPECT_GE(less.received, 50u);
  EXPECT_LE(less.received, 100u);
  EXPECT_LT(heap.statistics().in_use, in_use - 10'000);
  EXPECT_EQ(command(heap, MALLARD_SHRINK_IN_PLACE, 0, 0, p).first, nullptr) << "no block is so small";
  EXPECT_EQ(command(heap, MALLARD_TRY_SHRINK_IN_PLACE, 0, 0, p).first, p);
}

TEST(CCommand, WhatMeansNothingDoesNothing) {
  const handle heap;
  void* const p = mallard_heap_allocate(heap.get(), 100);
  for (const unsigned ways : {0u, MALLARD_NOTHROW_ALLOCATION, 0x20u, MALLARD_ALLOCATE_NEW | 0x100u,
                              MALLARD_ALLOCATE_NEW | MALLARD_SHRINK_IN_PLACE})
    EXPECT_EQ(command(heap, ways, 20, 20, p).first, nullptr) << ways;
  EXPECT_EQ(command(heap, MALLARD_ALLOCATE_NEW, 20, 20, p, 0).first, nullptr);
  EXPECT_EQ(command(heap, MALLARD_ALLOCATE_NEW, 20, 20, p, 12, 0).first, nullptr);
  EXPECT_EQ(command(heap, MALLARD_ALLOCATE_NEW, 20, 20, p, 12, 12).first, nullptr);
  for (const std::size_t size : absurd) {
    const mallard_command_result none =
        command(heap, in_place | MALLARD_ALLOCATE_NEW, 1, 1, p, size, std::size_t{1} << 63);
    EXPECT_EQ(none.first, nullptr);
    EXPECT_EQ(none.received, 0u);
    EXPECT_FALSE(none.reused);
    EXPECT_EQ(command(heap, in_place | MALLARD_ALLOCATE_NEW, size, size, p).first, nullptr);
  }
  EXPECT_EQ(mallard_heap_validate(heap.get()), nullptr);
}

std::vector<void*> blocks_of(mallard_chain chain) {
  std::vector<void*> all;
  for (void* p = chain.first; p != nullptr; p = mallard_chain_next(p)) all.push_back(p);
  EXPECT_EQ(all.size(), chain.count);
  EXPECT_EQ(all.empty() ? nullptr : all.back(), chain.last);
  return all;
}

TEST(CBurst, NodesAreAppendedAndEndOneByOneOrTogether) {
  const handle heap;
  mallard_chain chain = MALLARD_CHAIN;
  ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 10, 48, 16, MALLARD_CONTIGUOUS_DEFAULT));
  ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 10, 48, 64, MALLARD_CONTIGUOUS_DEFAULT));
  ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 0, 48, 16, MALLARD_CONTIGUOUS_DEFAULT));
  const std::vector<void*> all = blocks_of(chain);
  ASSERT_EQ(all.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(is_aligned(all[i], i < 10 ? 16 : 64));
    EXPECT_GE(mallard_heap_usable_size(heap.get(), all[i]), 48u);
  }
  for (int i = 0; i < 5; ++i) mallard_heap_free(heap.get(), mallard_chain_pop_front(&chain));
  mallard_chain_push_back(&chain, mallard_heap_allocate(heap.get(), 70'000));
  mallard_chain_push_front(&chain, mallard_heap_allocate(heap.get(), 300'000));
  mallard_heap_free_chain(heap.get(), &chain);
  EXPECT_EQ(chain.first, nullptr);
  EXPECT_EQ(chain.last, nullptr);
  EXPECT_EQ(chain.count, 0u);
  EXPECT_EQ(heap.statistics().in_use, 0u);
  mallard_heap_free_chain(heap.get(), &chain);
}

TEST(CBurst, ArraysHaveEachItsLength) {
  const handle heap;
  const std::vector<std::size_t> lengths = {1, 0, 100, 7, 20'000, 3};
  mallard_chain chain = MALLARD_CHAIN;
  ASSERT_TRUE(mallard_heap_allocate_arrays(heap.get(), &chain, lengths.data(), lengths.size(), 12, 4,
                                           MALLARD_CONTIGUOUS_DEFAULT));
  const std::vector<void*> all = blocks_of(chain);
  ASSERT_EQ(all.size(), lengths.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_GE(mallard_heap_usable_size(heap.get(), all[i]), lengths[i] * 12);
  EXPECT_TRUE(mallard_heap_allocate_arrays(heap.get(), &chain, nullptr, 0, 12, 4, 0));
  EXPECT_EQ(chain.count, lengths.size());
}

TEST(CBurst, WhatCannotBeHadLeavesTheChainAsItWas) {
  const handle heap;
  mallard_chain chain = MALLARD_CHAIN;
  ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 3, 48, 16, 0));
  const std::vector<void*> before = blocks_of(chain);
  const std::size_t in_use = heap.statistics().in_use;
  const std::size_t lengths[] = {1, SIZE_MAX / 12 + 2, 1};
  EXPECT_FALSE(mallard_heap_allocate_nodes(heap.get(), &chain, 3, SIZE_MAX - 8, 16, 0));
  EXPECT_FALSE(mallard_heap_allocate_nodes(heap.get(), &chain, 3, 48, 24, 0)) << "24 is no alignment";
  EXPECT_FALSE(mallard_heap_allocate_arrays(heap.get(), &chain, lengths, 3, 12, 4, 0));
  EXPECT_FALSE(mallard_heap_allocate_arrays(heap.get(), &chain, lengths, 1, 12, 0, 0));
  EXPECT_EQ(blocks_of(chain), before);
  EXPECT_EQ(heap.statistics().in_use, in_use);
}

// How many blocks follow right behind the one before in the chain, 56 bytes and a tag away.
std::size_t adjacent(const std::vector<void*>& all) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < all.size(); ++i) found += address_of(all[i]) - address_of(all[i - 1]) == 64;
  return found;
}

// Holes that have room for two nodes, among live ones: a small limit fills them, none lays all side by side.
TEST(CBurst, TheLimitSaysHowMuchIsCutInARow) {
  const handle heap;
  mallard_chain chain = MALLARD_CHAIN;
  ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 300, 48, 16, MALLARD_CONTIGUOUS_ALL));
  const std::vector<void*> all = blocks_of(chain);
  EXPECT_EQ(adjacent(all), 299u);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % 3 != 0) mallard_heap_free(heap.get(), all[i]);
  static_cast<void>(mallard_heap_trim(heap.get(), SIZE_MAX));  // joins what was freed
  const void* const last_alive = all[297];
  const auto in_a_hole = [&](const void* p) { return p >= all.front() && p < last_alive; };

  chain = MALLARD_CHAIN;
  ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 50, 48, 16, 64));
  const std::vector<void*> apart = blocks_of(chain);
  EXPECT_LT(adjacent(apart), 25u);
  EXPECT_TRUE(std::all_of(apart.begin(), apart.end(), in_a_hole));

  chain = MALLARD_CHAIN;
  ASSERT_TRUE(mallard_heap_allocate_nodes(heap.get(), &chain, 50, 48, 16, MALLARD_CONTIGUOUS_ALL));
  const std::vector<void*> together = blocks_of(chain);
  EXPECT_EQ(adjacent(together), 49u);
  EXPECT_TRUE(std::none_of(together.begin(), together.end(), in_a_hole));

  const std::vector<std::size_t> lengths(50, 12);
  chain = MALLARD_CHAIN;
  ASSERT_TRUE(
      mallard_heap_allocate_arrays(heap.get(), &chain, lengths.data(), 50, 4, 4, MALLARD_CONTIGUOUS_ALL));
  EXPECT_EQ(adjacent(blocks_of(chain)), 49u);
}

TEST(CChain, LinksBlocksAtBothEnds) {
  void* blocks[4][2];
  mallard_chain chain = MALLARD_CHAIN;
  EXPECT_EQ(mallard_chain_pop_front(&chain), nullptr);
  mallard_chain_push_back(&chain, blocks[1]);
  mallard_chain_push_front(&chain, blocks[0]);
  mallard_chain other = MALLARD_CHAIN;
  mallard_chain_splice_back(&chain, &other);
  EXPECT_EQ(chain.count, 2u);
  mallard_chain_push_front(&other, blocks[2]);
  mallard_chain_push_back(&other, blocks[3]);
  mallard_chain_splice_back(&chain, &other);
  EXPECT_EQ(blocks_of(other).size(), 0u);
  EXPECT_EQ(blocks_of(chain), (std::vector<void*>{blocks[0], blocks[1], blocks[2], blocks[3]}));
  mallard_chain_splice_back(&other, &chain);
  for (auto& block : blocks) EXPECT_EQ(mallard_chain_pop_front(&other), block);
  EXPECT_EQ(mallard_chain_pop_front(&other), nullptr);
  EXPECT_EQ(other.last, nullptr);
  EXPECT_EQ(other.count, 0u);
}

}  // namespace
}  // namespace mallard::capi
