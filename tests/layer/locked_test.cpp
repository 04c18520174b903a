// Every member takes the lock, once, and passes on what the heap says; how threads fare with it is the
// model suite's.
#include "mallard/layer/locked.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/os_pages.hpp"
#include "watched_mutex.hpp"

namespace mallard {
namespace {

// What is rare, over a heap that can do little.
class trims_and_bursts : public live_list<default_source> {
 public:
  std::size_t trim(std::size_t keep) noexcept { return keep + 1; }

  bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count, std::size_t unit,
                      std::size_t align, std::size_t) noexcept {
    for (std::size_t i = 0; i < count; ++i) out.push_back(allocate(lengths[i] * unit, align).data);
    return true;
  }
  void deallocate_burst(chain& blocks) noexcept {
    while (!blocks.empty()) deallocate(blocks.pop_front());
  }
};

template <class Heap>
using watched = locked<attended<Heap>, watched_mutex>;

// Whether an operation takes the lock exactly once and leaves none held.
template <class Operation>
testing::AssertionResult locks_once(Operation operation) {
  const std::size_t before = watched_mutex::taken();
  operation();
  const std::size_t taken = watched_mutex::taken() - before;
  if (taken == 1 && watched_mutex::held() == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << taken << " locks taken, " << watched_mutex::held() << " held";
}

static_assert(concurrent<locked<multipool>> && !concurrent<multipool>);
static_assert(layered<locked<multipool>> && releasable<locked<multipool>> && clearable<locked<multipool>> &&
              burst<locked<multipool>> && owning<locked<multipool>> && inspectable<locked<multipool>>);
static_assert(rewindable<locked<monotonic>> && expandable<locked<monotonic>> &&
              shrinkable<locked<monotonic>> && predictable<locked<monotonic>>);
static_assert(fixed_size<locked<pool>> && freeable<locked<live_list<default_source>>> &&
              measurable<locked<live_list<default_source>>> && counted<locked<default_source>>);
static_assert(trimmable<locked<trims_and_bursts>> && burst_of_sizes<locked<trims_and_bursts>>);

// Nothing that the heap lacks is promised.
static_assert(!layered<locked<fixed_buffer>> && !releasable<locked<fixed_buffer>> &&
              !rewindable<locked<multipool>> && !resizable<locked<multipool>> && !freeable<locked<pool>> &&
              !trimmable<locked<multipool>> && !fixed_size<locked<monotonic>> && !counted<locked<pool>> &&
              !burst<locked<monotonic>> && !burst_of_sizes<locked<multipool>> &&
              !thread_caching<locked<pool>>);

static_assert(heap_name<locked<multipool>> == "locked_multipool");

TEST(Locked, TakesTheLockOnceForABlock) {
  watched<live_list<default_source>> heap;
  block b;
  EXPECT_TRUE(locks_once([&] { b = heap.allocate(100, 16); }));
  ASSERT_TRUE(b);
  EXPECT_TRUE(locks_once([&] { EXPECT_EQ(heap.usable_size(b.data), b.size); }));
  EXPECT_TRUE(locks_once([&] { EXPECT_TRUE(heap.owns(b.data)); }));
  EXPECT_TRUE(locks_once([&] { heap.deallocate(b.data, 100, 16); }));
  b = heap.allocate(100, 16);
  EXPECT_TRUE(locks_once([&] { heap.deallocate(b.data); }));
  EXPECT_EQ(heap.usage().granted, 0u);
}

TEST(Locked, TakesTheLockOnceForAResizeOfManyWays) {
  watched<monotonic> heap;
  const block b = heap.allocate(100, 16);
  ASSERT_TRUE(heap.allocate(100, 16));  // now the first cannot grow in place
  resize_result moved;
  EXPECT_TRUE(locks_once([&] {
    moved =
        heap.resize({b.data, 100, 16, 200, 400, resize_way::expand_forward | resize_way::allocate_new, 16});
  }));
  EXPECT_TRUE(moved.memory && !moved.reused);
  EXPECT_EQ(moved.memory.size, 400u);
}

// The allocator knows no sizes: the heap looks itself, under the same lock.
TEST(Locked, TakesTheLockOnceForACommand) {
  watched<best_fit> heap;
  v2_allocator<int, watched<best_fit>> numbers(heap);
  int* const block = numbers.allocate(100);
  for (const allocation_type command :
       {commands::expand_fwd | commands::expand_bwd | commands::nothrow_allocation,
        commands::try_shrink_in_place, commands::shrink_in_place}) {
    int* reuse = block;
    const std::size_t limit = command == commands::shrink_in_place ? 30 : 100;
    std::size_t size = limit;
    EXPECT_TRUE(
        locks_once([&] { EXPECT_EQ(numbers.allocation_command(command, limit, size, reuse), block); }));
  }
  EXPECT_LE(numbers.size(block), 30u);
  int* reuse = block;
  constexpr std::size_t larger = 1000000;
  std::size_t size = larger;
  EXPECT_TRUE(locks_once([&] {
    EXPECT_NE(numbers.allocation_command(commands::expand_fwd | commands::allocate_new, larger, size, reuse),
              block);
  }));
  EXPECT_EQ(reuse, nullptr);
}

TEST(Locked, TakesTheLockOnceForABurst) {
  watched<multipool> heap;
  chain blocks;
  EXPECT_TRUE(locks_once([&] { EXPECT_TRUE(heap.allocate_burst(blocks, 50, 48, 8, 0)); }));
  EXPECT_EQ(blocks.size(), 50u);
  EXPECT_TRUE(locks_once([&] { heap.deallocate_burst(blocks, 48, 8); }));
  EXPECT_TRUE(blocks.empty());

  watched<trims_and_bursts> of_sizes;
  const std::array<std::size_t, 3> lengths = {1, 20, 300};
  EXPECT_TRUE(locks_once(
      [&] { EXPECT_TRUE(of_sizes.allocate_burst(blocks, lengths.data(), lengths.size(), 8, 8, 0)); }));
  EXPECT_EQ(blocks.size(), lengths.size());
  EXPECT_GE(of_sizes.usable_size(blocks.back()), 8 * lengths.back());
  EXPECT_TRUE(locks_once([&] { of_sizes.deallocate_burst(blocks); }));
  EXPECT_TRUE(blocks.empty());
}

TEST(Locked, TakesTheLockOnceForTheWholeHeap) {
  watched<monotonic> heap;
  ASSERT_TRUE(heap.allocate(10, 1));
  std::size_t received = 0;
  EXPECT_TRUE(locks_once([&] { received = heap.received_size(77, 8); }));
  EXPECT_EQ(received, 77u);
  EXPECT_TRUE(locks_once([&] {
    const auto from_here = heap.mark();
    static_assert(std::same_as<decltype(from_here), const monotonic::mark_type>);
  }));
  const auto from_here = heap.mark();
  ASSERT_TRUE(heap.allocate(10, 1));
  EXPECT_TRUE(locks_once([&] { EXPECT_EQ(heap.usage().granted, 20u); }));
  EXPECT_TRUE(locks_once([&] { heap.rewind(from_here); }));
  EXPECT_EQ(heap.usage().granted, 10u);
  EXPECT_TRUE(locks_once([&] { heap.clear(); }));
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_TRUE(locks_once([&] { EXPECT_FALSE(heap.validate()); }));
  EXPECT_TRUE(locks_once([&] { heap.release(); }));
  EXPECT_EQ(heap.usage().held, 0u);

  watched<trims_and_bursts> trims;
  EXPECT_TRUE(locks_once([&] { EXPECT_EQ(trims.trim(41), 42u); }));
}

TEST(Locked, TakesTheLockOnceForAFigure) {
  watched<basic_pool<default_source>> of_one_size(std::size_t{40}, std::size_t{8});
  EXPECT_TRUE(locks_once([&] { EXPECT_EQ(of_one_size.block_size(), 40u); }));
  EXPECT_TRUE(locks_once([&] { EXPECT_EQ(of_one_size.block_align(), 8u); }));

  watched<default_source> source;
  const block b = source.allocate(5000, 8);
  EXPECT_TRUE(locks_once([&] { EXPECT_EQ(source.held(), b.size); }));
  EXPECT_TRUE(locks_once([&] { source.return_to_system(b.data, 5000, 8); }));
  EXPECT_TRUE(locks_once([&] { EXPECT_EQ(source.max_held(), b.size); }));
}

TEST(Locked, GivesTheHeapItselfForQuietTimes) {
  locked<multipool> heap;
  ASSERT_TRUE(heap.allocate(48, 8));
  EXPECT_EQ(heap.heap().usage(), heap.usage());
  EXPECT_EQ(heap.upstream().held(), heap.usage().held);
  EXPECT_EQ(&heap.upstream(), &heap.heap().upstream());
  EXPECT_EQ(&std::as_const(heap).upstream(), &heap.upstream());
}

TEST(Locked, TellsFreshBlocksAsItsHeapDoes) {
  watched<counting<os_pages>> pages;
  bool is_fresh = false;
  block b;
  EXPECT_TRUE(locks_once([&] { b = pages.allocate(100, 8, is_fresh); }));
  EXPECT_TRUE(is_fresh);
  pages.deallocate(b.data, 100, 8);
}

}  // namespace
}  // namespace mallard
