#include "mallard/heap/obstack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "mallard/core/growth.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {
namespace {

static_assert(nestable<mallard::obstack> && clearable<mallard::obstack> && rewindable<mallard::obstack> &&
              owning<mallard::obstack> && resizable<mallard::obstack> && inspectable<mallard::obstack>);
static_assert(std::is_default_constructible_v<mallard::obstack>);
static_assert(heap_name<mallard::obstack> == "obstack");

TEST(Obstack, NestsAsRegionsDo) {
  mallard::obstack outer;
  {
    mallard::obstack inner(outer, nesting::cleared_with_parent);
    ASSERT_NE(inner.grow(100), nullptr);
    outer.clear();
    EXPECT_FALSE(inner.object()) << "the object under construction is cleared, too";
    ASSERT_NE(inner.grow(100), nullptr);
  }
  mallard::obstack kept(outer, nesting::ends_with_parent);
  ASSERT_NE(kept.grow(100), nullptr);
  outer.clear();
  EXPECT_EQ(kept.object().size, 100u);
}

// As a compiler does it: what a function's body has put on the stack goes when the function is compiled.
TEST(Obstack, FreesWhatAFunctionHasPutOnIt) {
  mallard::obstack compiler;
  const block permanent = compiler.allocate(1000, 8);
  for (int function = 0; function < 100; ++function) {
    void* const first = compiler.allocate(16, 8).data;
    for (int node = 0; node < 1000; ++node) std::memset(compiler.allocate(48, 8).data, 1, 48);
    compiler.free_from(first);
    EXPECT_EQ(compiler.usage().granted, permanent.size);
  }
  EXPECT_LE(compiler.upstream().max_held(), 128u << 10) << "of one function at a time";
}

#if MALLARD_CHECKS >= 2
TEST(ObstackDeathTest, ABlockOfAnotherIsToldOf) {
  mallard::obstack mine;
  mallard::obstack another;
  ASSERT_TRUE(mine.allocate(48, 8));
  void* const foreign = another.allocate(48, 8).data;
  EXPECT_DEATH(mine.free_from(foreign), "is_in_buffer");
}
#endif

using stack = object_stack<basic_monotonic<failing<default_source>, doubling<4096, 8192>>>;

static_assert(rewindable<stack> && clearable<stack> && releasable<stack> && resizable<stack>);

class ObjectStack : public testing::Test {
 protected:
  void append(const std::string& text) {
    void* const added = heap_.grow(text.size());
    ASSERT_NE(added, nullptr);
    std::memcpy(added, text.data(), text.size());
  }

  [[nodiscard]] std::string object() const {
    const block b = heap_.object();
    return {static_cast<const char*>(b.data), b.size};
  }

  stack heap_;
};

TEST_F(ObjectStack, AnObjectGrowsWhereItIs) {
  append("obstack");
  const void* const begin = heap_.object().data;
  append(" means ");
  append("object stack");
  EXPECT_EQ(object(), "obstack means object stack");
  EXPECT_EQ(heap_.object().data, begin);
  EXPECT_EQ(heap_.finish(), (block{const_cast<void*>(begin), 26}));
  EXPECT_FALSE(heap_.object());
  EXPECT_EQ(heap_.usage().granted, 26u) << "what it did not use is free";
}

TEST_F(ObjectStack, AnObjectMovesWhereThereIsNoRoom) {
  ASSERT_TRUE(heap_.allocate(4000, 1));
  std::string expected;
  for (int i = 0; i < 40000; ++i) {
    append(std::to_string(i));
    expected += std::to_string(i);
  }
  EXPECT_EQ(object(), expected);
  EXPECT_TRUE(is_aligned(heap_.object().data, default_align));
  EXPECT_LT(heap_.upstream().requests(), 12u) << "larger than the largest chunk, and yet it moves seldom";
}

TEST_F(ObjectStack, BlocksMayBeAllocatedMeanwhile) {
  append("first");
  const block between = heap_.allocate(8, 8);
  std::memset(between.data, 0, 8);
  append(" and second");
  EXPECT_EQ(object(), "first and second");
  EXPECT_EQ(std::string(static_cast<const char*>(between.data), 8), std::string(8, '\0'));
  EXPECT_FALSE(heap_.validate());
}

TEST_F(ObjectStack, FinishMakesTheNextOneAnother) {
  append("one");
  const block one = heap_.finish();
  append("two");
  EXPECT_EQ(object(), "two");
  EXPECT_EQ(std::memcmp(one.data, "one", 3), 0);
  EXPECT_FALSE(stack().finish()) << "of nothing";
}

TEST_F(ObjectStack, AnObjectOfNoBytesIsOne) {
  EXPECT_NE(heap_.grow(0), nullptr);
  EXPECT_EQ(heap_.object().size, 0u);
  EXPECT_EQ(heap_.finish().size, 1u);
}

TEST_F(ObjectStack, FreesABlockAndAllAfterIt) {
  const block kept = heap_.allocate(104, 8);
  std::memset(kept.data, 7, 100);
  const block first = heap_.allocate(100, 8);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(heap_.allocate(100, 8));
  append("unfinished");
  heap_.free_from(first.data);
  EXPECT_EQ(heap_.usage().granted, 104u);
  EXPECT_FALSE(heap_.object());
  EXPECT_EQ(heap_.allocate(100, 8).data, first.data) << "it is the top again";
  EXPECT_EQ(static_cast<const char*>(kept.data)[99], 7);
  heap_.free_from(kept.data);
  EXPECT_EQ(heap_.usage().granted, 0u);
}

TEST_F(ObjectStack, WhatEndsItsBlocksEndsTheObject) {
  const auto mark = heap_.mark();
  append("object");
  heap_.rewind(mark);
  EXPECT_FALSE(heap_.object());
  append("object");
  heap_.clear();
  EXPECT_FALSE(heap_.object());
  append("object");
  heap_.release();
  EXPECT_FALSE(heap_.object());
  EXPECT_EQ(heap_.usage(), heap_usage{});
}

TEST_F(ObjectStack, StaysAsItIsWhenTheSourceIsExhausted) {
  append("kept");
  heap_.upstream().fail_from(1);
  EXPECT_EQ(heap_.grow(10000), nullptr);
  EXPECT_EQ(heap_.grow(SIZE_MAX), nullptr);
  EXPECT_EQ(object(), "kept");
  append(" and more");
  EXPECT_EQ(object(), "kept and more");
}

}  // namespace
}  // namespace mallard
