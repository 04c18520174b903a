#include "mallard/thread/thread_heaps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <latch>
#include <memory_resource>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mallard/core/magazine.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/owned_pages.hpp"

namespace mallard {
namespace {

// A multipool of the classes that threads share, which notes which threads are inside.
template <heap Upstream>
class watched_pool : public basic_multipool<Upstream, thread_heap_classes> {
  using base = basic_multipool<Upstream, thread_heap_classes>;

 public:
  using base::base;

  std::size_t allocate_batch(std::size_t list, magazine::slot* end, std::size_t most) noexcept {
    ++allocations;
    users.push_back(std::this_thread::get_id());
    return base::allocate_batch(list, end, most);
  }
  void deallocate_batch(std::size_t list, std::span<const magazine::slot> blocks) noexcept {
    given_back += blocks.size();
    users.push_back(std::this_thread::get_id());
    base::deallocate_batch(list, blocks);
  }

  static inline std::size_t allocations =
      0;  // of a test's heaps, all of which are used by one thread at a time
  static inline std::size_t given_back = 0;
  static inline std::vector<std::thread::id> users;
};

using watched = thread_heaps<watched_pool<thread_pages<default_source>>>;
using watched_heap = watched::heap_type;

constexpr std::size_t size = 48;
constexpr std::size_t batch_length = batch_blocks(size);

template <class Heap>
std::vector<void*> allocate(Heap& from, std::size_t count, std::size_t bytes = size) {
  std::vector<void*> blocks(count);
  for (void*& p : blocks) p = from.allocate(bytes, 8).data;
  EXPECT_EQ(std::ranges::count(blocks, nullptr), 0);
  return blocks;
}

template <class Heap>
void deallocate(Heap& to, const std::vector<void*>& blocks, std::size_t bytes = size) {
  for (void* const p : blocks) to.deallocate(p, bytes, 8);
}

template <class F>
void on_another_thread(F f) {
  std::thread(f).join();
}

struct ThreadHeaps : testing::Test {
  ThreadHeaps() {
    watched_heap::allocations = 0;
    watched_heap::given_back = 0;
    watched_heap::users.clear();
  }
  watched heap;
};

// The owner's Heap is asked for nothing while what others have freed lasts, and nobody else enters it.
TEST_F(ThreadHeaps, WhatAnotherThreadFreesComesBackToItsOwner) {
  const std::vector<void*> blocks = allocate(heap, 1000);
  const std::size_t before = watched_heap::allocations;
  on_another_thread([&] { deallocate(heap, blocks); });
  std::vector<void*> again = allocate(heap, 1000);
  EXPECT_LE(watched_heap::allocations, before + 1);
  std::ranges::sort(again);
  const auto came_back =
      std::ranges::count_if(blocks, [&](void* p) { return std::ranges::binary_search(again, p); });
  EXPECT_GE(came_back, 900);
  for (const std::thread::id user : watched_heap::users) EXPECT_EQ(user, std::this_thread::get_id());
  EXPECT_FALSE(heap.validate());
}

// The last one that it frees fills its magazine.
TEST_F(ThreadHeaps, AThreadThatOnlyFreesKeepsAtMostABatchOfOthersBlocks) {
  const std::vector<void*> blocks = allocate(heap, 31 * batch_length);
  std::latch freed{1};
  std::latch done{1};
  std::thread other([&] {
    deallocate(heap, blocks);
    freed.count_down();
    done.wait();
  });
  freed.wait();
  const std::size_t before = watched_heap::allocations;
  const std::size_t held = heap.usage().held;
  const std::vector<void*> again = allocate(heap, 30 * batch_length);
  EXPECT_EQ(watched_heap::allocations, before) << "all others have returned";
  EXPECT_EQ(heap.usage().held, held);
  done.count_down();
  other.join();
  deallocate(heap, again);
  EXPECT_EQ(heap.usage().granted, 0u);
}

// Blocks of three threads leave the fourth's magazine by turns.
TEST_F(ThreadHeaps, BlocksOfManyOwnersEachFindTheirOwn) {
  std::array<std::vector<void*>, 3> blocks;
  std::array<std::latch, 3> made{std::latch{1}, std::latch{1}, std::latch{1}};
  std::latch freed{1};
  std::vector<std::thread> owners;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    owners.emplace_back([&, i] {
      blocks[i] = allocate(heap, 400);
      made[i].count_down();
      freed.wait();
    });
    made[i].wait();
  }
  for (std::size_t k = 0; k < 400; ++k)
    for (const std::vector<void*>& of_one : blocks) heap.deallocate(of_one[k], size, 8);
  EXPECT_FALSE(heap.validate()) << "each waits for the heap that it is from";
  EXPECT_EQ(heap.usage().granted, 0u);
  freed.count_down();
  for (std::thread& t : owners) t.join();
  heap.flush();
  EXPECT_FALSE(heap.validate());
}

TEST_F(ThreadHeaps, AThreadThatBeginsHasTheHeapOfOneThatEnded) {
  deallocate(heap, allocate(heap, 1));
  std::vector<void*> left;
  on_another_thread([&] { left = allocate(heap, 2000); });
  const std::size_t held = heap.usage().held;
  deallocate(heap, left);
  EXPECT_EQ(heap.usage().granted, 0u);
  on_another_thread([&] { deallocate(heap, allocate(heap, 1900)); });
  EXPECT_EQ(heap.usage().held, held) << "with what has returned to that meanwhile";
  EXPECT_FALSE(heap.validate());
}

// Its magazines have what the ended one freed last, and have not been emptied and filled again.
TEST_F(ThreadHeaps, AThreadThatBeginsHasTheMagazinesOfOneThatEnded) {
  deallocate(heap, allocate(heap, 1));
  std::vector<void*> freed;
  on_another_thread([&] { deallocate(heap, freed = allocate(heap, batch_length)); });
  const std::size_t allocations = watched_heap::allocations;
  on_another_thread([&] {
    const std::vector<void*> again = allocate(heap, batch_length);
    EXPECT_TRUE(std::ranges::is_permutation(again, freed));
    deallocate(heap, again);
  });
  EXPECT_EQ(watched_heap::allocations, allocations);
  EXPECT_EQ(watched_heap::given_back, 0u);
  EXPECT_EQ(heap.usage().granted, 0u);
}

TEST_F(ThreadHeaps, AThreadThatOnlyFreesMayEndFirst) {
  const std::vector<void*> blocks = allocate(heap, 5);
  on_another_thread([&] { deallocate(heap, blocks); });
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_FALSE(heap.validate());
  std::vector<void*> again = allocate(heap, batch_length);
  for (void* const p : blocks) EXPECT_NE(std::ranges::find(again, p), again.end());
}

TEST_F(ThreadHeaps, LargeBlocksComeBackToTheirOwnerToo) {
  const std::vector<void*> large = allocate(heap, 3, 100000);
  const std::size_t held = heap.usage().held;
  const std::size_t granted = heap.usage().granted;
  on_another_thread([&] {
    deallocate(heap, allocate(heap, 1));  // has a heap of its own
    const std::size_t before = heap.upstream().held();
    deallocate(heap, large, 100000);
    EXPECT_EQ(heap.upstream().held(), before) << "nobody but its thread enters a heap";
  });
  EXPECT_LT(heap.usage().granted, granted);
  EXPECT_FALSE(heap.validate());
  const std::vector<void*> again = allocate(heap, 3, 100000);
  EXPECT_LE(heap.usage().held, held + 16384) << "the other thread's heap";
  EXPECT_EQ(heap.usage().granted, granted);
  deallocate(heap, again, 100000);
  EXPECT_EQ(heap.usage().granted, 0u);
}

// Small ones with a strict alignment are such, and carry what their owner must know.
TEST_F(ThreadHeaps, BlocksWithAStrictAlignmentComeBackToTheirOwner) {
  const block b = heap.allocate(1, 4096);
  EXPECT_TRUE(is_aligned(b.data, 4096));
  on_another_thread([&] { heap.deallocate(b.data, 1, 4096); });
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_EQ(heap.allocate(1, 4096), b);
}

TEST_F(ThreadHeaps, AddressesAreTheHeapsOrNot) {
  watched other;
  const block small = heap.allocate(48, 8);
  const block large = heap.allocate(1 << 20, 8);
  const block others = other.allocate(48, 8);
  EXPECT_TRUE(heap.owns(small.data) && heap.owns(static_cast<std::byte*>(large.data) + (1 << 20) - 1));
  EXPECT_FALSE(heap.owns(others.data) || heap.owns(&heap) || heap.owns(nullptr));
}

// What is cached and returned is not in use.
TEST_F(ThreadHeaps, StatisticsCountWhatNobodyUsesAsFree) {
  const std::size_t index = watched::classes::index(size, 8);
  const std::vector<void*> blocks = allocate(heap, 300);
  on_another_thread([&] {
    for (std::size_t i = 0; i < 200; ++i) heap.deallocate(blocks[i], size, 8);
  });
  const pool_statistics found = heap.statistics(index);
  EXPECT_EQ(found.block_size, size);
  EXPECT_GE(found.carved, 300u);
  EXPECT_EQ(found.live(), 100u);
}

TEST_F(ThreadHeaps, MemoryThatRunsOutForOneThreadIsFoundAgain) {
  thread_heaps<basic_multipool<thread_pages<limited<default_source>>, thread_heap_classes>> bounded;
  bounded.upstream().set_limit(std::size_t{1} << 20);
  std::vector<void*> blocks;
  while (void* const p = bounded.allocate(size, 8).data) blocks.push_back(p);
  EXPECT_GT(blocks.size(), 15000u);
  on_another_thread([&] {
    EXPECT_FALSE(bounded.allocate(size, 8)) << "no memory for what a thread has";
    deallocate(bounded, blocks);
  });
  EXPECT_FALSE(bounded.validate());
  EXPECT_EQ(allocate(bounded, blocks.size() - 2 * batch_length).size(), blocks.size() - 2 * batch_length);
}

TEST_F(ThreadHeaps, WhatWaitsServesOtherSizesBeforeARequestIsRefused) {
  thread_heaps<basic_multipool<thread_pages<limited<default_source>>, thread_heap_classes>> bounded;
  std::vector<void*> blocks = allocate(bounded, 5000);
  bounded.upstream().set_limit(bounded.usage().held);
  while (bounded.allocate(700, 8)) {
  }
  // What is refused once makes a heap look what waits, until it finds blocks without new memory.
  std::vector<void*> some(blocks.end() - 200, blocks.end());
  blocks.resize(blocks.size() - some.size());
  deallocate(bounded, some);
  some = allocate(bounded, some.size());
  on_another_thread([&] { deallocate(bounded, blocks); });
  EXPECT_TRUE(bounded.allocate(700, 8));
  EXPECT_FALSE(bounded.validate());
}

// What it has of other threads' it gives back to them, and what it has itself to the next thread.
TEST_F(ThreadHeaps, FlushKeepsNothing) {
  const std::vector<void*> mine = allocate(heap, 10);
  std::latch flushed{1};
  std::latch done{1};
  std::thread other([&] {
    for (std::size_t i = 0; i < 5; ++i) heap.deallocate(mine[i], size, 8);
    heap.flush();
    flushed.count_down();
    done.wait();
  });
  flushed.wait();
  const std::vector<void*> again = allocate(heap, batch_length);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NE(std::ranges::find(again, mine[i]), again.end());
  done.count_down();
  other.join();
}

using thread_best_fits = thread_heaps<basic_best_fit<thread_pages<default_source>>>;

TEST(ThreadHeapsOfOtherHeaps, TrimReturnsAllThatNoBlockNeeds) {
  thread_best_fits heap;
  std::vector<void*> blocks = allocate(heap, 5000, 100);
  on_another_thread([&] { deallocate(heap, blocks, 100); });
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_GT(heap.trim(0), 400000u);
  EXPECT_EQ(heap.usage(), (heap_usage{}));
  EXPECT_EQ(heap.upstream().held(), 0u);
  blocks = allocate(heap, 1, 100);
  EXPECT_EQ(heap.trim(0), 0u);
  EXPECT_TRUE(heap.owns(blocks[0]));
}

TEST(ThreadHeapsOfOtherHeaps, SizesAndAddressesAreAllThatAHeapNeeds) {
  thread_heaps<basic_sized_reap<thread_pages<default_source>>> heap;
  std::vector<std::thread> threads;
  std::array<std::vector<void*>, 4> blocks;
  for (std::vector<void*>& mine : blocks)
    threads.emplace_back([&] {
      for (std::size_t bytes = 1; bytes < 3000; ++bytes) mine.push_back(heap.allocate(bytes, 8).data);
    });
  for (std::thread& t : threads) t.join();
  threads.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i)
    threads.emplace_back([&, i] {
      const std::vector<void*>& others = blocks[(i + 1) % blocks.size()];
      for (std::size_t bytes = 1; bytes < 3000; ++bytes) heap.deallocate(others[bytes - 1], bytes, 8);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(heap.validate());
}

TEST(ThreadHeapsOfOtherHeaps, AResourceServesManyThreads) {
  resource<thread_best_fits> shared;
  std::vector<std::pmr::string> words(1000, std::pmr::string("none", &shared));
  on_another_thread([&] {
    for (std::pmr::string& w : words) w = std::string(100, 'x');
  });
  for (std::pmr::string& w : words) w += std::string(100, 'y');
  EXPECT_EQ(words[999].size(), 200u);
}

// While another thread has it. Another member for this one holds memory of its own.
TEST_F(ThreadHeaps, AHeapThatWasGivenUpIsNotUsedAgainByTheThreadThatHadItLast) {
  heap.deallocate(allocate(heap, 1).front(), size, 8);
  heap.flush();
  std::latch taken(1);
  std::latch done(1);
  std::thread next([&] {
    deallocate(heap, allocate(heap, 10));  // which are at hand
    taken.count_down();
    done.wait();
  });
  taken.wait();
  const std::size_t before = heap.usage().held;
  void* const block = allocate(heap, 1).front();
  EXPECT_GT(heap.usage().held, before);
  heap.deallocate(block, size, 8);
  done.count_down();
  next.join();
}

}  // namespace
}  // namespace mallard
