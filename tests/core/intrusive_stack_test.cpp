#include "mallard/core/intrusive_stack.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

struct alignas(void*) cell {
  std::byte bytes[8];
};

TEST(IntrusiveStack, IsOneWord) { EXPECT_EQ(sizeof(intrusive_stack), sizeof(void*)); }

TEST(IntrusiveStack, GivesTheLastBlockFirst) {
  cell a, b;
  intrusive_stack stack;
  EXPECT_EQ(stack.pop(), nullptr);
  stack.push(&a);
  stack.push(&b);
  EXPECT_EQ(stack.top(), &b);
  EXPECT_EQ(intrusive_stack::next(&b), &a);
  EXPECT_EQ(stack.pop(), &b);
  EXPECT_EQ(stack.pop(), &a);
  EXPECT_EQ(stack.pop(), nullptr);
  EXPECT_TRUE(stack.empty());
}

TEST(IntrusiveStack, TakesAWholeChainOnTop) {
  cell a, b, c;
  intrusive_stack stack;
  chain burst;
  stack.push(burst);
  EXPECT_TRUE(stack.empty());
  stack.push(&a);
  burst.push_back(&b);
  burst.push_back(&c);
  stack.push(burst);
  EXPECT_TRUE(burst.empty());
  EXPECT_EQ(stack.count(), 3u);
  EXPECT_EQ(stack.pop(), &b);
  EXPECT_EQ(stack.pop(), &c);
  EXPECT_EQ(stack.pop(), &a);
  EXPECT_EQ(stack.pop(), nullptr);
  EXPECT_EQ(stack.count(), 0u);
}

TEST(IntrusiveStack, GivesTheUppermostAsAChain) {
  cell a, b, c;
  intrusive_stack stack;
  EXPECT_TRUE(stack.pop(2).empty());
  for (cell* each : {&a, &b, &c}) stack.push(each);
  EXPECT_TRUE(stack.pop(0).empty());
  chain taken = stack.pop(2);
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken.front(), &c);
  EXPECT_EQ(taken.back(), &b);
  EXPECT_EQ(chain::next(&b), nullptr);
  EXPECT_EQ(stack.top(), &a);
  EXPECT_EQ(stack.pop(2).size(), 1u);
  EXPECT_TRUE(stack.empty());
}

TEST(IntrusiveStack, TakesOutOneOfTheFirst) {
  cell a, b, c;
  intrusive_stack stack;
  for (cell* each : {&a, &b, &c}) stack.push(each);
  EXPECT_FALSE(stack.take_out(&a, 2)) << "it is the third";
  EXPECT_TRUE(stack.take_out(&b, 2));
  EXPECT_FALSE(stack.take_out(&b, 3));
  EXPECT_TRUE(stack.take_out(&c, 1));
  EXPECT_EQ(stack.pop(), &a);
  EXPECT_FALSE(stack.take_out(&a, 3));
}

}  // namespace
}  // namespace mallard
