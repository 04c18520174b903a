// What the heaps over it guarantee to threads is tested by heap/thread_properties.hpp; here is the rest.
#include "mallard/thread/thread_caches.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/failing.hpp"

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

  thread_caches<basic_multipool<source>, 2, 1, std::mutex> caches_;
};

TEST(BatchBlocks, AreFewBytesAndNeverNone) {
  EXPECT_EQ(batch_blocks(16), 32);
  EXPECT_EQ(batch_blocks(128), 32);
  EXPECT_EQ(batch_blocks(1024), 4);
  EXPECT_EQ(batch_blocks(100000), 1);
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
  EXPECT_EQ(first_blocks(16), 4);
  EXPECT_EQ(first_blocks(48), 1);
  EXPECT_EQ(first_blocks(5000), 1);
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
