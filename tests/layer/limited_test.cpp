#include "mallard/layer/limited.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory_resource>
#include <new>
#include <thread>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/layer/stats.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

static_assert(layered<limited<multipool>> && predictable<limited<multipool>> &&
              !concurrent<limited<multipool>>);

template <class Heap>
concept can_be_limited = requires { typename limited<Heap>; };

struct silent {  // tells nothing of what a block received
  block allocate(std::size_t, std::size_t) noexcept { return {}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
};
static_assert(heap<silent> && !can_be_limited<silent>);

TEST(Limited, HandsOutUpToTheLimitAndNoMore) {
  limited<multipool> heap(byte_limit{100});
  const block a = heap.allocate(64, 8);
  EXPECT_EQ(heap.out(), 64u);
  EXPECT_FALSE(heap.allocate(40, 8));
  EXPECT_EQ(heap.out(), 64u);
  EXPECT_TRUE(heap.allocate(32, 8));
  heap.deallocate(a.data, 64, 8);
  EXPECT_EQ(heap.out(), 32u);
  EXPECT_TRUE(heap.allocate(64, 8));
}

TEST(Limited, CountsReceivedBytesWhateverSizeComesBack) {
  limited<multipool> heap(byte_limit{1 << 20});
  const block a = heap.allocate(1001, 8);
  EXPECT_GT(a.size, 1001u);
  EXPECT_EQ(heap.out(), a.size);
  heap.deallocate(a.data, 1001, 8);
  EXPECT_EQ(heap.out(), 0u);
}

TEST(Limited, AsksThePredictableUpstreamForNothingBeyondTheLimit) {
  limited<stats<multipool>> heap(byte_limit{100});
  EXPECT_FALSE(heap.allocate(101, 8));
  EXPECT_EQ(heap.upstream().statistics().requests, 0u);
}

TEST(Limited, ReturnsWhatAMeasurableUpstreamGaveTooMuch) {
  alignas(16) std::byte bytes[4096];
  struct untold : fixed_buffer {
    using fixed_buffer::fixed_buffer;
    std::size_t received_size(std::size_t, std::size_t) = delete;
  };
  limited<live_list<untold>> heap(byte_limit{100}, bytes, sizeof bytes);
  const block a = heap.allocate(64, 8);
  EXPECT_EQ(heap.out(), a.size);
  EXPECT_FALSE(heap.allocate(64, 8));
  EXPECT_EQ(heap.upstream().usage().granted, a.size);
  heap.deallocate(a.data, 64, 8);
  EXPECT_EQ(heap.out(), 0u);
}

TEST(Limited, CountsNothingForARequestThatTheUpstreamRefuses) {
  alignas(16) std::byte bytes[64];
  limited<fixed_buffer> heap(byte_limit{1000}, bytes, sizeof bytes);
  ASSERT_TRUE(heap.allocate(48, 16));
  EXPECT_FALSE(heap.allocate(48, 16));
  EXPECT_EQ(heap.out(), 48u);
}

TEST(Limited, HandsOutABurstAsAWholeOrNotAtAll) {
  limited<failing<multipool>> heap(byte_limit{100});
  chain blocks;
  EXPECT_FALSE(heap.allocate_burst(blocks, 5, 20, 8, 0));
  EXPECT_FALSE(heap.allocate_burst(blocks, SIZE_MAX / 16, 32, 8, 0)) << "whose bytes would overflow";
  EXPECT_EQ(heap.out(), 0u);
  ASSERT_TRUE(heap.allocate_burst(blocks, 4, 20, 8, 0));
  EXPECT_EQ(heap.out(), 96u);
  heap.deallocate_burst(blocks, 20, 8);
  heap.upstream().fail_at(1);
  EXPECT_FALSE(heap.allocate_burst(blocks, 4, 20, 8, 0));
  EXPECT_EQ(heap.out(), 0u);
}

TEST(Limited, IsUnlimitedUntilToldAndThenTakesNoBlockAway) {
  limited<multipool> heap;
  const block a = heap.allocate(1 << 20, 8);
  ASSERT_TRUE(a);
  heap.set_limit(64);
  EXPECT_EQ(heap.limit(), 64u);
  EXPECT_FALSE(heap.allocate(8, 8));
  heap.deallocate(a.data, 1 << 20, 8);
  EXPECT_TRUE(heap.allocate(64, 8));
  EXPECT_FALSE(heap.allocate(8, 8));
}

TEST(Limited, StartsAgainAfterReleaseAndClear) {
  limited<multipool> heap(byte_limit{64});
  ASSERT_TRUE(heap.allocate(64, 8));
  heap.clear();
  EXPECT_EQ(heap.out(), 0u);
  ASSERT_TRUE(heap.allocate(64, 8));
  heap.release();
  EXPECT_EQ(heap.out(), 0u);
}

TEST(Limited, EndsAContainerWithBadAllocWhichLivesOn) {
  resource<limited<pool>> blocks(byte_limit{100}, 16u, 8u);
  EXPECT_NE(blocks.allocate(16, 8), nullptr);
  resource<limited<multipool>> memory(byte_limit{4096});
  std::pmr::vector<char> text(&memory);
  text.resize(2048, 'x');
  EXPECT_THROW(text.resize(2500), std::bad_alloc);
  EXPECT_EQ(text.size(), 2048u);
}

TEST(Limited, BoundsWhatAHeapTakesFromTheSystem) {
  basic_multipool<limited<default_source>> heap(byte_limit{1 << 20});
  while (heap.allocate(1000, 8)) {
  }
  EXPECT_LE(heap.usage().held, std::size_t{1} << 20);
  EXPECT_GT(heap.usage().held, std::size_t{1} << 19);
  EXPECT_EQ(heap.upstream().out(), heap.usage().held);
}

// As many threads as the upstream allows: here one that only counts.
struct endless {
  static constexpr bool is_concurrent = true;
  block allocate(std::size_t size, std::size_t) noexcept { return {this, size}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t) const noexcept { return size; }
};

TEST(Limited, HoldsItsLimitAgainstManyThreads) {
  static_assert(concurrent<limited<endless>>);
  limited<endless> heap(byte_limit{1000});
  std::atomic<std::size_t> served = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const block b = heap.allocate(300, 8);
        if (!b) continue;
        ++served;
        EXPECT_LE(heap.out(), 1000u);
        heap.deallocate(b.data, 300, 8);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_GT(served, 0u);
  EXPECT_EQ(heap.out(), 0u);
}

TEST(Limited, TellsFreshBlocksAsItsUpstreamDoes) {
  limited<os_pages> heap(byte_limit{4096});
  bool is_fresh = false;
  const block b = heap.allocate(4096, 8, is_fresh);
  EXPECT_TRUE(b && is_fresh);
  EXPECT_FALSE(heap.allocate(1, 1, is_fresh));
  EXPECT_FALSE(is_fresh);
  heap.deallocate(b.data, 4096, 8);
  EXPECT_EQ(heap.out(), 0u);
}

}  // namespace
}  // namespace mallard
