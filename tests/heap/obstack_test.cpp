#include "mallard/heap/obstack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

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

#if MALLARD_CHECKS
TEST(ObstackDeathTest, ABlockOfAnotherIsToldOf) {
  mallard::obstack mine;
  mallard::obstack another;
  ASSERT_TRUE(mine.allocate(48, 8));
  void* const foreign = another.allocate(48, 8).data;
  EXPECT_DEATH(mine.free_from(foreign), "is_in_buffer");
}
#endif

}  // namespace
}  // namespace mallard
