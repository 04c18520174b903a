#include "mallard/source/upstream_ref.hpp"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "mallard/core/concepts.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

// A heap with the abilities that a reference must not have.
struct ending {
  block allocate(std::size_t, std::size_t) noexcept { return {}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
  void release() noexcept {}
  void clear() noexcept {}
};

static_assert(releasable<ending> && clearable<ending>);
static_assert(layered<upstream_ref<ending>> && !releasable<upstream_ref<ending>> &&
              !clearable<upstream_ref<ending>>);
static_assert(!owning<upstream_ref<ending>> && !predictable<upstream_ref<ending>>);
static_assert(owning<upstream_ref<fixed_buffer>> && predictable<upstream_ref<fixed_buffer>>);

TEST(UpstreamRef, SharesOneHeapAmongSeveral) {
  alignas(16) std::byte bytes[1024];
  counting<fixed_buffer> referred(bytes, sizeof bytes);
  upstream_ref first(referred);
  upstream_ref second(referred);
  const block a = first.allocate(100, 8);
  const block b = second.allocate(100, 8);
  EXPECT_EQ(referred.held(), 224u);
  EXPECT_EQ(&first.upstream(), &referred);
  EXPECT_EQ(first.received_size(100, 8), 112u);
  second.deallocate(a.data, 100, 8);
  first.deallocate(b.data, 100, 8);
  EXPECT_EQ(referred.held(), 0u);
}

TEST(UpstreamRef, ReturnsToTheSystemThroughItsHeap) {
  counting<cached_pages> referred;
  upstream_ref ref(referred);
  const block a = ref.allocate(100000, 8);
  const std::size_t mapped = process_chunks().mapped();
  ref.return_to_system(a.data, 100000, 8);
  EXPECT_EQ(referred.held(), 0u);
  EXPECT_EQ(process_chunks().mapped(), mapped - a.size);
  static_assert(!caching<upstream_ref<fixed_buffer>>);
}

TEST(UpstreamRef, TellsFreshPagesAsItsHeapDoes) {
  static_assert(!tells_fresh<upstream_ref<fixed_buffer>> && !tells_fresh<shared_upstream<fixed_buffer>>);
  static_assert(tells_fresh<upstream_ref<shared_upstream<default_source>>>);
  os_pages pages;
  upstream_ref ref(pages);
  shared_upstream<os_pages> root;
  shared_upstream<os_pages> child{shared_upstream<os_pages>::child_of{root}};
  const auto is_fresh = [](auto& from) {
    bool told = false;
    const block b = from.allocate(100000, 8, told);
    if (b) from.deallocate(b.data, 100000, 8);
    return told;
  };
  EXPECT_TRUE(is_fresh(ref) && is_fresh(root) && is_fresh(child));
  child.cut_off();
  bool told = true;
  EXPECT_FALSE(child.allocate(1, 1, told));
  EXPECT_FALSE(told);
}

TEST(UpstreamRef, MeasuresABlockAsItsHeapDoes) {
  best_fit referred;
  limited<upstream_ref<best_fit>> bounded(byte_limit{1000}, referred);
  const block a = bounded.allocate(100, 8);
  EXPECT_EQ(bounded.usable_size(a.data), referred.usable_size(a.data));
  EXPECT_EQ(bounded.out(), a.size);
  static_assert(!measurable<upstream_ref<fixed_buffer>>);
}

TEST(UpstreamRef, KnowsWhatItsHeapOwns) {
  alignas(16) std::byte bytes[64];
  fixed_buffer referred(bytes, sizeof bytes);
  const upstream_ref shared(referred);
  EXPECT_TRUE(shared.owns(bytes));
  EXPECT_FALSE(shared.owns(&referred));
}

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
