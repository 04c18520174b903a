#include "mallard/core/lazy_stacks.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace mallard {
namespace {

struct alignas(void*) cell {
  std::byte bytes[8];
};

using stacks = lazy_stacks<100>;

class LazyStacks : public testing::Test {
 protected:
  // What lies in its memory before it begins is not zero.
  void* soiled() { return std::memset(place_, 0xff, sizeof place_); }

  alignas(stacks) std::byte place_[sizeof(stacks)];
  stacks& stacks_ = *::new (soiled()) stacks;
};

TEST_F(LazyStacks, AreEmptyBeforeTheyAreOpened) {
  EXPECT_FALSE(stacks_.is_open());
  cell a;
  for (std::size_t i = 0; i < stacks::size(); ++i) {
    EXPECT_EQ(stacks_.top(i), nullptr);
    EXPECT_EQ(stacks_.pop(i), nullptr);
    EXPECT_FALSE(stacks_.take_out(i, &a, 4));
  }
}

TEST_F(LazyStacks, WritesNoStackWhenItBegins) {
  std::size_t written = 0;
  for (const std::byte b : place_) written += static_cast<std::size_t>(b != std::byte{0xff});
  EXPECT_LE(written, sizeof(void*));
}

TEST_F(LazyStacks, EachGivesItsLastBlockFirst) {
  cell a, b, c;
  stacks_.open();
  for (const std::size_t i : {0u, 99u}) EXPECT_EQ(stacks_.pop(i), nullptr);
  stacks_.push(3, &a);
  stacks_.push(3, &b);
  stacks_.push(99, &c);
  EXPECT_EQ(stacks_.top(3), &b);
  EXPECT_EQ(stacks_.pop(3), &b);
  EXPECT_EQ(stacks_.pop(3), &a);
  EXPECT_EQ(stacks_.pop(3), nullptr);
  EXPECT_EQ(stacks_.pop(99), &c);
}

TEST_F(LazyStacks, OneOfTheUppermostIsTakenOut) {
  cell a, b, c;
  stacks_.open();
  for (cell* const p : {&a, &b, &c}) stacks_.push(7, p);
  EXPECT_FALSE(stacks_.take_out(7, &a, 2));
  EXPECT_TRUE(stacks_.take_out(7, &b, 2));
  EXPECT_EQ(stacks_.pop(7), &c);
  EXPECT_EQ(stacks_.pop(7), &a);
}

TEST_F(LazyStacks, CloseDropsAllAndTheyOpenEmpty) {
  cell a;
  stacks_.open();
  stacks_.push(5, &a);
  stacks_.close();
  EXPECT_FALSE(stacks_.is_open());
  EXPECT_EQ(stacks_.pop(5), nullptr);
  stacks_.open();
  EXPECT_EQ(stacks_.pop(5), nullptr);
}

TEST_F(LazyStacks, ThatALibraryHasClosedOutliveIt) {
  void* const library = ::dlopen(CLOSING_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto* const close = reinterpret_cast<void (*)(stacks&)>(::dlsym(library, "close_stacks"));
  stacks_.open();
  close(stacks_);
  ::dlclose(library);
  EXPECT_EQ(stacks_.pop(5), nullptr);
}

}  // namespace
}  // namespace mallard
