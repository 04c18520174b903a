#include "mallard/source/shared_upstream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "mallard/core/concepts.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

using shared = shared_upstream<counting<fixed_buffer>>;

static_assert(layered<shared> && predictable<shared> && !releasable<shared> && !clearable<shared>);
static_assert(owning<shared_upstream<fixed_buffer>> && !owning<shared_upstream<counting<fixed_buffer>>>);
static_assert(std::is_default_constructible_v<shared_upstream<default_source>> &&
              !std::is_copy_constructible_v<shared_upstream<default_source>>);
static_assert(is_shared_upstream<shared> && !is_shared_upstream<fixed_buffer>);

class SharedUpstream : public testing::Test {
 protected:
  std::array<std::byte, 4096> bytes_;
  shared root_{bytes_.data(), bytes_.size()};
  shared child_{shared::child_of{root_}};
};

TEST_F(SharedUpstream, AChildHasTheUpstreamOfTheRoot) {
  shared grandchild{shared::child_of{child_}};
  EXPECT_EQ(&grandchild.upstream(), &root_.upstream());
  const block b = grandchild.allocate(64, 16);
  ASSERT_TRUE(b);
  EXPECT_EQ(root_.upstream().held(), 64u);
  root_.deallocate(b.data, 64, 16);
  EXPECT_EQ(root_.upstream().held(), 0u);
  EXPECT_EQ(child_.received_size(64, 16), 64u);
}

TEST_F(SharedUpstream, WhatIsCutOffServesNothing) {
  child_.cut_off();
  EXPECT_TRUE(child_.is_cut_off());
  EXPECT_FALSE(root_.is_cut_off());
  EXPECT_FALSE(child_.allocate(1, 1));
  EXPECT_EQ(child_.received_size(1, 1), 0u);
  const shared child_of_none{shared::child_of{child_}};
  EXPECT_TRUE(child_of_none.is_cut_off());
  const block b = root_.allocate(1, 1);
  EXPECT_TRUE(b);
  root_.deallocate(b.data, 1, 1);
}

struct ends_once {
  explicit ends_once(int& counted) : ends(&counted) {}
  ends_once(const ends_once&) = delete;
  ends_once& operator=(const ends_once&) = delete;
  ~ends_once() { ++*ends; }
  static block allocate(std::size_t, std::size_t) noexcept { return {}; }
  static void deallocate(void*, std::size_t, std::size_t) noexcept {}
  int* ends;
};

TEST(SharedUpstreamEnd, TheUpstreamEndsOnceWithTheRoot) {
  int ends = 0;
  {
    shared_upstream<ends_once> root(ends);
    {
      const shared_upstream<ends_once> child(shared_upstream<ends_once>::child_of{root});
    }
    EXPECT_EQ(ends, 0);
  }
  EXPECT_EQ(ends, 1);
}

}  // namespace
}  // namespace mallard
