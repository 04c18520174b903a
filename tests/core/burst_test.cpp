#include "mallard/core/burst.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>

#include "mallard/core/align.hpp"
#include "mallard/debug/guarded.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/stats.hpp"

namespace mallard {
namespace {

TEST(OneByOne, AppendsSoManyBlocks) {
  pool heap(48);
  chain out;
  ASSERT_TRUE(allocate_each(heap, out, 3, 48, 8));
  ASSERT_TRUE(allocate_each(heap, out, 2, 1, 1));
  ASSERT_TRUE(allocate_each(heap, out, 0, 1, 1));
  EXPECT_EQ(out.size(), 5u);
  EXPECT_EQ(heap.statistics().live(), 5u);
}

TEST(OneByOne, BlocksHaveRoomForALink) {
  pool heap;
  chain out;
  ASSERT_TRUE(allocate_each(heap, out, 1, 0, 1));
  EXPECT_EQ(heap.block_size(), sizeof(void*));
}

TEST(OneByOne, WhereOneFailsNoneIsLeft) {
  basic_pool<failing<os_pages>> heap(1000);
  heap.upstream().fail_from(3);
  chain out;
  ASSERT_TRUE(allocate_each(heap, out, 1, 1000, 8));
  EXPECT_FALSE(allocate_each(heap, out, 1000, 1000, 8));
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(heap.statistics().live(), 1u);
}

TEST(OneByOne, BlocksOfGivenLengthsGoBackWithTheirSizes) {
  stats<multipool> heap;
  const std::size_t lengths[] = {3, 0, 100};
  chain out;
  ASSERT_TRUE(allocate_each(heap, out, lengths, 3, 4, 8));
  EXPECT_EQ(heap.statistics().requested.live, 12 + sizeof(void*) + 400);
  const std::size_t sizes[] = {12, sizeof(void*), 400};
  deallocate_each(heap, out, 8, [&sizes](std::size_t i) { return sizes[i]; });
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(heap.statistics().requested.live, 0u);
}

TEST(OneByOne, ALengthThatOverflowsLeavesNone) {
  stats<multipool> heap;
  const std::size_t lengths[] = {3, max_request / 4 + 1};
  chain out;
  EXPECT_FALSE(allocate_each(heap, out, lengths, 2, 4, 8));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(heap.statistics().blocks.live, 0u);
}

// Blocks of the C library, which are freed by address; counts calls, and those that are bursts.
class by_address {
 public:
  int calls = 0;
  int bursts = 0;
  std::size_t live = 0;

  [[nodiscard]] block allocate(std::size_t size, std::size_t) noexcept {
    ++calls, ++live;
    return {std::malloc(size), size};
  }
  void deallocate(void* p) noexcept {
    ++calls, --live;
    std::free(p);
  }
  void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }
};

class in_bursts : public by_address {
 public:
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t) noexcept {
    ++bursts;
    return allocate_each(*this, out, count, size, align);
  }
  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t) noexcept {
    ++bursts;
    return allocate_each(*this, out, lengths, count, unit, align);
  }
  void deallocate_burst(chain& blocks) noexcept {
    ++bursts;
    while (!blocks.empty()) deallocate(blocks.pop_front());
  }
  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept { deallocate_burst(blocks); }
};
static_assert(burst<in_bursts> && burst_of_sizes<in_bursts> && !burst<by_address> &&
              ends_by_address<by_address>);
static_assert(!ends_by_address<multipool> && ends_by_address<guarded<multipool>>);

constexpr std::size_t lengths[] = {1, 0, 100, 7};

TEST(BurstAny, IsABurstWhereTheHeapHasThem) {
  in_bursts heap;
  chain out;
  ASSERT_TRUE(allocate_burst_any(heap, out, 5, 24, 8));
  ASSERT_TRUE(allocate_burst_any(heap, out, lengths, 4, 8, 8));
  EXPECT_EQ(out.size(), 9u);
  EXPECT_EQ(heap.bursts, 2);
  deallocate_burst_any(heap, out, 8);
  ASSERT_TRUE(allocate_burst_any(heap, out, 5, 24, 8));
  deallocate_burst_any(heap, out, 24, 8);
  EXPECT_EQ(heap.bursts, 5);
  EXPECT_EQ(heap.live, 0u);
}

TEST(BurstAny, IsSoManyBlocksWhereItHasNone) {
  by_address heap;
  chain out;
  ASSERT_TRUE(allocate_burst_any(heap, out, 5, 24, 8));
  ASSERT_TRUE(allocate_burst_any(heap, out, lengths, 4, 8, 8));
  EXPECT_EQ(heap.calls, 9);
  deallocate_burst_any(heap, out, 8);
  EXPECT_EQ(heap.calls, 18);
  EXPECT_EQ(heap.live, 0u);
}

TEST(BurstAny, BlocksOfAnySizesGoBackToAHeapThatMeasuresThem) {
  guarded<multipool> heap;  // tells a wrong size
  chain out;
  ASSERT_TRUE(allocate_burst_any(heap, out, lengths, 4, 8, 8));
  ASSERT_TRUE(allocate_burst_any(heap, out, 3, 48, 8));
  deallocate_burst_any(heap, out, 8);
  EXPECT_TRUE(out.empty());
  ASSERT_TRUE(allocate_burst_any(heap, out, 3, 48, 8));
  deallocate_burst_any(heap, out, 48, 8);
  EXPECT_EQ(heap.usage().granted, 0u);
}

TEST(BurstAny, BlocksHaveTheSizeAndAlignmentOfALink) {
  guarded<multipool> told;  // tells a wrong size or alignment
  monotonic tight;
  chain out;
  ASSERT_TRUE(allocate_burst_any(told, out, 3, 4, 4));
  deallocate_burst_any(told, out, 4, 4);
  ASSERT_TRUE(allocate_burst_any(told, out, 3, 12, 4));
  deallocate_burst_any(told, out, 4);
  EXPECT_EQ(told.usage().granted, 0u);
  ASSERT_TRUE(allocate_burst_any(tight, out, 3, 12, 4));
  ASSERT_TRUE(allocate_burst_any(tight, out, lengths, 4, 12, 4));
  for (const void* p = out.front(); p != nullptr; p = chain::next(p))
    EXPECT_TRUE(is_aligned(p, alignof(void*)));
}

TEST(BurstAny, IsAllOrNone) {
  stats<failing<monotonic>> heap;
  chain out;
  ASSERT_TRUE(allocate_burst_any(heap, out, 2, 24, 8));
  heap.upstream().fail_at(4);
  EXPECT_FALSE(allocate_burst_any(heap, out, lengths, 4, 8, 8));
  heap.upstream().fail_at(4);
  EXPECT_FALSE(allocate_burst_any(heap, out, 4, 24, 8));
  EXPECT_EQ(out.size(), 2u);
  EXPECT_EQ(heap.statistics().blocks.live, 2u);
}

}  // namespace
}  // namespace mallard
