#include "mallard/heap/region_emulator/record_stack.hpp"

#include <gtest/gtest.h>

#include "mallard/layer/failing.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {
namespace {

using records = record_stack<int, failing<default_source>, doubling<4096, 16384>>;

TEST(RecordStack, TheLastOneOnIsTheFirstOneOff) {
  records stack;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(stack.push(i));
    EXPECT_EQ(stack.size(), 20'000u);
    EXPECT_FALSE(stack.validate());
    for (int i = 20'000; i-- > 0;) ASSERT_EQ(stack.pop(), i);
    EXPECT_TRUE(stack.empty());
    EXPECT_FALSE(stack.validate());
  }
}

TEST(RecordStack, KeepsItsLargestChunkOnly) {
  records stack;
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(stack.push(i));
  while (!stack.empty()) stack.pop();
  EXPECT_LE(stack.held(), 4096u + 16384u);
  stack.release();
  EXPECT_EQ(stack.held(), 0u);
  EXPECT_TRUE(stack.push(1));
  EXPECT_EQ(stack.pop(), 1);
}

TEST(RecordStack, VisitsFromTheTopAndStopsWhenTold) {
  records stack;
  for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(stack.push(i));
  int expected = 5'000;
  stack.for_each_while([&](int value) {
    EXPECT_EQ(value, --expected);
    return value != 100;
  });
  EXPECT_EQ(expected, 100);
}

TEST(RecordStack, StaysAsItIsWhenTheSourceIsExhausted) {
  records stack;
  stack.source().fail_from(1);
  EXPECT_FALSE(stack.push(1));
  stack.source().fail_no_more();
  int held = 0;
  while (stack.source().requests() < 2) ASSERT_TRUE(stack.push(held++));
  stack.source().fail_from(1);
  while (stack.push(held)) ++held;
  EXPECT_EQ(stack.size(), static_cast<std::size_t>(held));
  while (held-- > 0) ASSERT_EQ(stack.pop(), held);
}

}  // namespace
}  // namespace mallard
