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

}  // namespace
}  // namespace mallard
