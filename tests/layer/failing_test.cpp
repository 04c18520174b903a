#include "mallard/layer/failing.hpp"

#include <gtest/gtest.h>

#include <memory_resource>
#include <new>
#include <string>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

static_assert(layered<failing<fixed_buffer>> && predictable<failing<fixed_buffer>> &&
              owning<failing<fixed_buffer>>);
static_assert(rewindable<failing<monotonic>> && !rewindable<failing<multipool>>);
static_assert(freeable<failing<live_list<os_pages>>> == freeable<live_list<os_pages>>);
static_assert(releasable<failing<multipool>> && clearable<failing<multipool>>);

class Failing : public testing::Test {
 protected:
  // One letter a request: y for a block, n for null.
  std::string answers(int requests) {
    std::string said;
    for (int i = 0; i < requests; ++i) said += heap_.allocate(16, 16) ? 'y' : 'n';
    return said;
  }

  alignas(16) std::byte bytes_[1024];
  failing<fixed_buffer> heap_{bytes_, sizeof bytes_};
};

TEST_F(Failing, FailsNothingUntilTold) {
  EXPECT_EQ(answers(5), "yyyyy");
  EXPECT_EQ(heap_.requests(), 5u);
}

TEST_F(Failing, FailsTheNthRequestOnly) {
  heap_.fail_at(3);
  EXPECT_EQ(answers(5), "yynyy");
}

TEST_F(Failing, FailsEveryRequestFromTheNthOn) {
  heap_.fail_from(3);
  EXPECT_EQ(answers(5), "yynnn");
  heap_.fail_no_more();
  EXPECT_EQ(answers(2), "yy");
}

TEST_F(Failing, CountsFromTheCallThatArmsIt) {
  EXPECT_EQ(answers(2), "yy");
  heap_.fail_at(1);
  EXPECT_EQ(answers(2), "ny");
  heap_.fail_at(2);
  EXPECT_EQ(answers(3), "yny");
}

TEST_F(Failing, PassesEverythingElseThrough) {
  const block b = heap_.allocate(100, 16);
  EXPECT_EQ(heap_.received_size(100, 16), b.size);
  EXPECT_TRUE(heap_.owns(b.data));
  heap_.fail_from(1);
  heap_.deallocate(b.data, b.size, 16);
  EXPECT_EQ(heap_.upstream().usage().granted, 0u);
}

TEST(FailingHeap, EndsAllBlocksAsItsUpstreamDoes) {
  failing<multipool> heap;
  ASSERT_TRUE(heap.allocate(100, 8));
  heap.clear();
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_GT(heap.upstream().usage().held, 0u);
  heap.release();
  EXPECT_EQ(heap.upstream().usage().held, 0u);
}

TEST(FailingHeap, FailsABurstAsOneRequest) {
  failing<multipool> heap;
  chain blocks;
  heap.fail_at(2);
  EXPECT_TRUE(heap.allocate_burst(blocks, 10, 20, 8, 0));
  EXPECT_FALSE(heap.allocate_burst(blocks, 10, 20, 8, 0));
  EXPECT_EQ(blocks.size(), 10u);
  heap.deallocate_burst(blocks, 20, 8);
  EXPECT_EQ(heap.usage().granted, 0u);
}

TEST(FailingHeap, FailsToGrowABlockButNotToShrinkIt) {
  failing<monotonic> heap;
  const block b = heap.allocate(100, 8);
  heap.fail_from(1);
  EXPECT_FALSE(heap.resize({b.data, 100, 8, 150, 150, resize_way::expand_forward}).memory);
  EXPECT_TRUE(heap.resize({b.data, 100, 8, 50, 50, resize_way::try_shrink}).reused);
  EXPECT_EQ(heap.requests(), 1u);
  heap.fail_no_more();
  EXPECT_TRUE(heap.resize({b.data, 50, 8, 150, 150, resize_way::expand_forward}).reused);
}

TEST(FailingHeap, RewindsAsItsUpstreamDoes) {
  failing<monotonic> heap;
  ASSERT_TRUE(heap.allocate(100, 8));
  const auto here = heap.mark();
  const block b = heap.allocate(50, 8);
  heap.rewind(here);
  EXPECT_EQ(heap.allocate(50, 8).data, b.data);
}

TEST(FailingHeap, IsBadAllocInAContainer) {
  resource<failing<multipool>> memory;
  std::pmr::vector<int> numbers(&memory);
  memory.heap().fail_at(2);
  numbers.assign(4, 1);
  EXPECT_THROW(numbers.resize(100), std::bad_alloc);
  EXPECT_EQ(numbers.size(), 4u);
  numbers.resize(100);

  failing<multipool> heap;
  heap.fail_at(1);
  std::vector<int, allocator<int, failing<multipool>>> typed(heap);
  EXPECT_THROW(typed.push_back(1), std::bad_alloc);
  typed.push_back(1);
}

TEST(FailingSource, WhatFailsIsNotFresh) {
  failing<os_pages> source;
  source.fail_at(2);
  bool is_fresh = false;
  const block b = source.allocate(100, 8, is_fresh);
  EXPECT_TRUE(b && is_fresh);
  EXPECT_FALSE(source.allocate(100, 8, is_fresh));
  EXPECT_FALSE(is_fresh);
  source.deallocate(b.data, 100, 8);
}

}  // namespace
}  // namespace mallard
