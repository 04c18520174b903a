#include "mallard/heap/multipool/intrusive_queue.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

struct alignas(void*) cell {
  std::byte bytes[8];
};

TEST(IntrusiveQueue, IsTwoWords) { EXPECT_EQ(sizeof(intrusive_queue), 2 * sizeof(void*)); }

TEST(IntrusiveQueue, GivesTheFirstBlockFirst) {
  cell a, b;
  intrusive_queue queue;
  EXPECT_EQ(queue.pop(), nullptr);
  queue.push(&a);
  queue.push(&b);
  EXPECT_EQ(queue.top(), &a);
  EXPECT_EQ(intrusive_queue::next(&a), &b);
  EXPECT_EQ(intrusive_queue::next(&b), nullptr);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_TRUE(queue.empty());
}

TEST(IntrusiveQueue, IsUsedAgainAfterItRanEmpty) {
  cell a, b;
  intrusive_queue queue;
  queue.push(&a);
  EXPECT_EQ(queue.pop(), &a);
  queue.push(&b);
  queue.push(&a);
  EXPECT_EQ(queue.count(), 2u);
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(IntrusiveQueue, IsMadeOfBlocksThatAreLinked) {
  cell a, b, c;
  auto* const last = ::new (&b) chain::node{nullptr};
  intrusive_queue queue(::new (&a) chain::node{last}, last);
  queue.push(&c);
  for (const cell* next : {&a, &b, &c}) EXPECT_EQ(queue.pop(), next);
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(IntrusiveQueue, TakesAWholeChainBehindTheLast) {
  cell a, b, c, d;
  intrusive_queue queue;
  chain burst;
  queue.push(burst);
  EXPECT_TRUE(queue.empty());
  burst.push_back(&a);
  queue.push(burst);
  EXPECT_TRUE(burst.empty());
  burst.push_back(&b);
  burst.push_back(&c);
  queue.push(burst);
  queue.push(&d);
  EXPECT_EQ(queue.count(), 4u);
  for (const cell* next : {&a, &b, &c, &d}) EXPECT_EQ(queue.pop(), next);
  EXPECT_EQ(queue.pop(), nullptr);
}

}  // namespace
}  // namespace mallard
