#include "mallard/source/borrowed.hpp"

#include <gtest/gtest.h>

#include "mallard/source/counting.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

// A heap with the abilities that must not be borrowed.
struct ending {
  block allocate(std::size_t, std::size_t) noexcept { return {}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
  void release() noexcept {}
  void clear() noexcept {}
};

static_assert(releasable<ending> && clearable<ending>);
static_assert(layered<borrowed<ending>> && !releasable<borrowed<ending>> && !clearable<borrowed<ending>>);
static_assert(!owning<borrowed<ending>> && !predictable<borrowed<ending>>);
static_assert(owning<borrowed<fixed_buffer>> && predictable<borrowed<fixed_buffer>>);

TEST(Borrowed, SharesOneHeapAmongSeveral) {
  alignas(16) std::byte bytes[1024];
  counting<fixed_buffer> lent(bytes, sizeof bytes);
  borrowed first(lent);
  borrowed second(lent);
  const block a = first.allocate(100, 8);
  const block b = second.allocate(100, 8);
  EXPECT_EQ(lent.held(), 224u);
  EXPECT_EQ(&first.upstream(), &lent);
  EXPECT_EQ(first.received_size(100, 8), 112u);
  second.deallocate(a.data, 100, 8);
  first.deallocate(b.data, 100, 8);
  EXPECT_EQ(lent.held(), 0u);
}

TEST(Borrowed, ReturnsToTheSystemThroughItsHeap) {
  counting<cached_pages> lent;
  borrowed borrower(lent);
  const block a = borrower.allocate(100000, 8);
  const std::size_t mapped = process_chunks().mapped();
  borrower.return_to_system(a.data, 100000, 8);
  EXPECT_EQ(lent.held(), 0u);
  EXPECT_EQ(process_chunks().mapped(), mapped - a.size);
  static_assert(!caching<borrowed<fixed_buffer>>);
}

TEST(Borrowed, KnowsWhatItsHeapOwns) {
  alignas(16) std::byte bytes[64];
  fixed_buffer lent(bytes, sizeof bytes);
  const borrowed shared(lent);
  EXPECT_TRUE(shared.owns(bytes));
  EXPECT_FALSE(shared.owns(&lent));
}

}  // namespace
}  // namespace mallard
