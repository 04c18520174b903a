#include "mallard/source/upstream_ref.hpp"

#include <gtest/gtest.h>

#include "mallard/source/counting.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"

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

TEST(UpstreamRef, KnowsWhatItsHeapOwns) {
  alignas(16) std::byte bytes[64];
  fixed_buffer referred(bytes, sizeof bytes);
  const upstream_ref shared(referred);
  EXPECT_TRUE(shared.owns(bytes));
  EXPECT_FALSE(shared.owns(&referred));
}

}  // namespace
}  // namespace mallard
