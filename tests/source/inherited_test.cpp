#include "mallard/source/inherited.hpp"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "mallard/core/concepts.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

using lineage = inherited<counting<fixed_buffer>>;

static_assert(layered<lineage> && predictable<lineage> && !releasable<lineage> && !clearable<lineage>);
static_assert(owning<inherited<fixed_buffer>> && !owning<inherited<counting<fixed_buffer>>>);
static_assert(std::is_default_constructible_v<inherited<default_source>> &&
              !std::is_copy_constructible_v<inherited<default_source>>);
static_assert(is_inherited<lineage> && !is_inherited<fixed_buffer>);

class Inherited : public testing::Test {
 protected:
  std::array<std::byte, 4096> bytes_;
  lineage root_{bytes_.data(), bytes_.size()};
  lineage child_{lineage::heir{root_}};
};

TEST_F(Inherited, AnHeirHasTheUpstreamOfTheRoot) {
  lineage grandchild{lineage::heir{child_}};
  EXPECT_EQ(&grandchild.upstream(), &root_.upstream());
  const block b = grandchild.allocate(64, 16);
  ASSERT_TRUE(b);
  EXPECT_EQ(root_.upstream().held(), 64u);
  root_.deallocate(b.data, 64, 16);
  EXPECT_EQ(root_.upstream().held(), 0u);
  EXPECT_EQ(child_.received_size(64, 16), 64u);
}

TEST_F(Inherited, WhatIsCutOffServesNothing) {
  child_.cut_off();
  EXPECT_TRUE(child_.is_cut_off());
  EXPECT_FALSE(root_.is_cut_off());
  EXPECT_FALSE(child_.allocate(1, 1));
  EXPECT_EQ(child_.received_size(1, 1), 0u);
  const lineage heir_of_nobody{lineage::heir{child_}};
  EXPECT_TRUE(heir_of_nobody.is_cut_off());
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

TEST(InheritedEnd, TheUpstreamEndsOnceWithTheRoot) {
  int ends = 0;
  {
    inherited<ends_once> root(ends);
    {
      const inherited<ends_once> child(inherited<ends_once>::heir{root});
    }
    EXPECT_EQ(ends, 0);
  }
  EXPECT_EQ(ends, 1);
}

}  // namespace
}  // namespace mallard
