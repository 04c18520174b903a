// What the heaps over it guarantee to threads is tested by heap/thread_properties.hpp; here is the rest.
#include "mallard/thread/thread_caches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/failing.hpp"
#include "watched_mutex.hpp"

namespace mallard {
namespace {

using source = failing<counting<os_pages>>;
constexpr std::size_t size = 48;
constexpr std::size_t align = 16;

// Two lists of which the first is cached.
class ThreadCaches : public testing::Test {
 protected:
  void* allocate(std::size_t list) {
    void* const p = list > 0 ? nullptr : caches_.allocate_fast(list);
    return p != nullptr ? p : caches_.allocate_slow(list, size, align);
  }
  void deallocate(std::size_t list, void* p) {
    if (list > 0 || !caches_.deallocate_fast(list, p)) caches_.deallocate_slow(list, p, size);
  }
  [[nodiscard]] std::size_t carved() const {
    return caches_.central().statistics(multipool::classes::index(size, align)).live();
  }
  [[nodiscard]] violation validate() const {
    return caches_.validate([this](std::size_t) { return carved(); });
  }

  using central =
      basic_multipool<source, multipool_classes, multipool_growth, multipool_run_growth, intrusive_stack, 0>;
  thread_caches<central, 2, 1, std::mutex> caches_;
};

TEST(BatchBlocks, AreFewBytesAndNeverNone) {
  EXPECT_EQ(batch_blocks(16), 32u);
  EXPECT_EQ(batch_blocks(128), 32u);
  EXPECT_EQ(batch_blocks(1024), 4u);
  EXPECT_EQ(batch_blocks(100000), 1u);
}

TEST_F(ThreadCaches, AThreadBeginsWithFewBlocksAndThenTakesMore) {
  std::vector<std::size_t> steps;
  for (std::size_t i = 0, before = 0; i < 100; ++i) {
    ASSERT_NE(allocate(0), nullptr);
    if (carved() != before) steps.push_back(carved() - before);
    before = carved();
  }
  EXPECT_EQ(steps, (std::vector<std::size_t>{1, 1, 2, 4, 8, 16, 32, 32, 32}));
}

// Over a heap that keeps the blocks of each list in order: what leaves a cache is there.
class CachesOverSlabs : public testing::Test {
 protected:
  using central = attended_blocks<basic_multipool<source>>;
  static constexpr std::size_t list = multipool::classes::index(size, align);

  void* allocate() {
    void* const p = caches_.allocate_fast(list);
    return p != nullptr ? p : caches_.allocate_slow(list, size, align);
  }
  void deallocate(void* p) {
    if (!caches_.deallocate_fast(list, p)) caches_.deallocate_slow(list, p, size);
  }

  thread_caches<central, multipool::classes::count, multipool::classes::count, watched_mutex> caches_;
};

TEST_F(CachesOverSlabs, AFullMagazineGivesItsOlderHalfBackUnderTheLock) {
  std::vector<void*> blocks(10000);
  for (void*& p : blocks) p = allocate();
  const std::size_t locks = watched_mutex::taken();
  for (void* const p : blocks) deallocate(p);
  EXPECT_LE(watched_mutex::taken() - locks, blocks.size() / batch_blocks(size));
  EXPECT_LE(caches_.unused(list), 2 * batch_blocks(size));
  EXPECT_EQ(caches_.central().statistics(list).live(), caches_.unused(list));
}

// Freed in any order, blocks come back in the order of addresses.
TEST_F(CachesOverSlabs, BlocksComeBackAsNeighbours) {
  std::vector<void*> blocks(10000);
  for (void*& p : blocks) p = allocate();
  std::ranges::shuffle(blocks, std::mt19937_64(7));
  for (void* const p : blocks) deallocate(p);
  for (void*& p : blocks) p = allocate();
  std::size_t neighbours = 0;
  for (std::size_t i = 1; i < blocks.size(); ++i)
    if (address_of(blocks[i]) - address_of(blocks[i - 1]) == size) ++neighbours;
  EXPECT_GT(neighbours, blocks.size() * 9 / 10);
}

// A chunk for each block. A step for each chunk and block would take minutes.
TEST(ThreadCachesOfManyChunks, AreInspectedWithoutAStepForEachChunkOfABlock) {
  using central = basic_pool<basic_monotonic<>, constant<1>>;
  thread_caches<central, 1, 1, std::mutex> caches(size, align);
  std::vector<void*> blocks(100000);
  for (void*& p : blocks) p = caches.allocate_slow(0, size, align);
  for (void* p : blocks) caches.deallocate_slow(0, p, size);
  EXPECT_FALSE(caches.validate([&](std::size_t) { return caches.central().statistics().live(); }));
  EXPECT_GE(caches.unused(0), blocks.size());
}

// Two threads that write to their first blocks do not slow each other down.
TEST(FirstBlocks, FillALineOfTheProcessorsCaches) {
  EXPECT_EQ(first_blocks(16), 4u);
  EXPECT_EQ(first_blocks(48), 1u);
  EXPECT_EQ(first_blocks(5000), 1u);
  thread_caches<basic_multipool<source>, 1, 1, std::mutex> caches;
  EXPECT_NE(caches.allocate_slow(0, 16, 16), nullptr);
  EXPECT_EQ(caches.unused(0), 3u);
}

// Each would cost a lock when it is used again.
TEST_F(ThreadCaches, BlocksFreedOneByOneAreTakenTogether) {
  std::vector<void*> blocks(100);
  for (void*& p : blocks) p = allocate(0);
  caches_.flush();
  struct last_user {  // destroyed after the thread has given up its cache
    std::function<void()> frees;
    ~last_user() { frees(); }
  };
  std::thread([&] {
    thread_local const last_user last{[&] {
      for (void* const p : blocks) deallocate(0, p);
    }};
    deallocate(0, allocate(0));
  }).join();
  const std::size_t before = carved();
  std::size_t refills = 0;
  for (void*& p : blocks) {
    p = caches_.allocate_fast(0);
    if (p != nullptr) continue;
    ++refills;
    p = caches_.allocate_slow(0, size, align);
  }
  EXPECT_EQ(carved(), before);
  EXPECT_LE(refills, 100 / 32 + 8u);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  EXPECT_FALSE(validate());
}

TEST_F(ThreadCaches, WhatIsNotCachedIsReturnedAtOnce) {
  void* const p = caches_.allocate_slow(1, size, align);
  caches_.deallocate_slow(1, p, size);
  EXPECT_EQ(caches_.unused(1), 1u);
  std::thread([&] { EXPECT_EQ(caches_.allocate_slow(1, size, align), p); }).join();
  EXPECT_EQ(caches_.held(), 0u) << "and needs no cache";
}

TEST_F(ThreadCaches, WithoutMemoryForACacheBlocksAreSharedOneByOne) {
  auto& below = caches_.central().upstream();
  below.fail_from(2);
  std::set<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.insert(allocate(0));
  EXPECT_EQ(blocks.size(), 10u);
  EXPECT_EQ(blocks.count(nullptr), 0u);
  EXPECT_EQ(caches_.held(), 0u);
  for (void* const p : blocks) deallocate(0, p);
  EXPECT_EQ(caches_.unused(0), 10u);
  EXPECT_FALSE(validate());
  below.fail_no_more();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(blocks.count(allocate(0)), 1u);
  EXPECT_GT(caches_.held(), 0u);
}

TEST_F(ThreadCaches, ARequestThatFailsMakesNoCache) {
  caches_.central().upstream().fail_from(1);
  EXPECT_EQ(allocate(0), nullptr);
  caches_.central().upstream().fail_no_more();
  EXPECT_EQ(caches_.central().upstream().upstream().held(), 0u);
}

TEST_F(ThreadCaches, ForgettingKeepsCachesAndReleasingDoesNot) {
  for (int i = 0; i < 100; ++i) ASSERT_NE(allocate(0), nullptr);
  const std::size_t held = caches_.held();
  EXPECT_GT(held, 0u);
  caches_.forget();
  caches_.central().clear();
  EXPECT_EQ(caches_.unused(0), 0u);
  EXPECT_EQ(caches_.held(), held);
  ASSERT_NE(allocate(0), nullptr);
  EXPECT_EQ(caches_.held(), held);
  caches_.release();
  caches_.central().release();
  EXPECT_EQ(caches_.held(), 0u);
  EXPECT_EQ(caches_.central().upstream().upstream().held(), 0u);
  ASSERT_NE(allocate(0), nullptr);
  EXPECT_FALSE(validate());
}

TEST_F(ThreadCaches, ValidateSeesABlockFreedTwice) {
  void* const p = allocate(0);
  deallocate(0, p);
  EXPECT_FALSE(validate());
  deallocate(0, p);
  EXPECT_TRUE(validate());
  caches_.forget();
  (void)allocate(1);
  void* const q = caches_.allocate_slow(1, size, align);
  caches_.deallocate_slow(1, q, size);
  EXPECT_FALSE(validate());
  int elsewhere[4] = {};
  caches_.deallocate_slow(1, elsewhere, size);
  EXPECT_TRUE(validate());
  caches_.forget();
}

}  // namespace
}  // namespace mallard
