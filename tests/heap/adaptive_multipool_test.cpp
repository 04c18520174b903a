#include "mallard/heap/adaptive_multipool.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "mallard/layer/locked.hpp"

namespace mallard {
namespace {

static_assert(heap<adaptive_multipool> && releasable<adaptive_multipool> && trimmable<adaptive_multipool> &&
              burst<adaptive_multipool> && owning<adaptive_multipool> && inspectable<adaptive_multipool> &&
              !fixed_size<adaptive_multipool>);
static_assert(concurrent<locked<adaptive_multipool>> && trimmable<locked<adaptive_multipool>>);

TEST(AdaptiveMultipool, HoldsNothingUntilUsedAndAfterTrim) {
  adaptive_multipool heap;
  EXPECT_EQ(heap.upstream().held(), 0u);
  std::vector<block> blocks;
  for (std::size_t size = 0; size < 3000; ++size) blocks.push_back(heap.allocate(size, 8));
  EXPECT_GT(heap.upstream().held(), 3000u * 1500);
  for (std::size_t size = 0; size < 3000; ++size) heap.deallocate(blocks[size].data, size, 8);
  heap.trim(0);
  EXPECT_EQ(heap.upstream().held(), 0u);
}

TEST(AdaptiveMultipool, MemoryOfOneSizeServesAnother) {
  adaptive_multipool heap;
  std::size_t most = 0;
  for (const std::size_t size : {16u, 24u, 40u, 64u, 96u, 200u}) {
    std::vector<void*> blocks(4000000 / size);
    for (void*& p : blocks) p = heap.allocate(size, 8).data;
    for (void* p : blocks) heap.deallocate(p, size, 8);
    if (most == 0) most = heap.upstream().max_held();
  }
  EXPECT_LE(heap.upstream().max_held(), most * 3) << "six phases of six sizes, and not six times the memory";
}

TEST(AdaptiveMultipool, TellsWhatEachPoolHas) {
  adaptive_multipool heap;
  const std::size_t index = adaptive_multipool::classes::index(24, 8);
  EXPECT_EQ(heap.statistics(index).live(), 0u);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(heap.allocate(24, 8));
  EXPECT_EQ(heap.statistics(index).live(), 100u);
  EXPECT_EQ(heap.statistics(index).block_size, 24u);
}

}  // namespace
}  // namespace mallard
