#include "mallard/source/counting.hpp"

#include <gtest/gtest.h>

#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {
namespace {

static_assert(heap<counting<os_pages>> && layered<counting<os_pages>> && counted<counting<os_pages>>);
static_assert(predictable<counting<os_pages>>);

class Counting : public testing::Test {
 protected:
  alignas(16) std::byte bytes_[1024];
  counting<fixed_buffer> source_{bytes_, sizeof bytes_};
};

TEST_F(Counting, CountsReceivedBytes) {
  EXPECT_EQ(source_.held(), 0u);
  const block a = source_.allocate(10, 8);
  const block b = source_.allocate(100, 8);
  EXPECT_EQ(source_.held(), 16u + 112u);
  source_.deallocate(a.data, 10, 8);
  EXPECT_EQ(source_.held(), 112u);
  source_.deallocate(b.data, 105, 8);
  EXPECT_EQ(source_.held(), 0u);
  EXPECT_TRUE(source_.allocate(10, 8));
  EXPECT_EQ(source_.max_held(), 128u);
}

TEST_F(Counting, DoesNotCountWhatItsSourceRefuses) {
  EXPECT_FALSE(source_.allocate(2000, 8));
  EXPECT_EQ(source_.held(), 0u);
  EXPECT_EQ(source_.max_held(), 0u);
}

TEST_F(Counting, CanStartItsHighestMarkAgain) {
  const block a = source_.allocate(512, 8);
  const block b = source_.allocate(512, 8);
  source_.deallocate(b.data, b.size, 8);
  source_.reset_max_held();
  EXPECT_EQ(source_.max_held(), 512u);
  EXPECT_TRUE(a);
}

TEST(CountingCachedPages, CountWhatGoesToTheSystem) {
  static_assert(caching<counting<cached_pages>> && !caching<counting<os_pages>>);
  counting<cached_pages> source;
  const block a = source.allocate(100000, 8);
  const std::size_t mapped = process_chunks().mapped();
  source.return_to_system(a.data, 100000, 8);
  EXPECT_EQ(source.held(), 0u);
  EXPECT_EQ(process_chunks().mapped(), mapped - a.size);
}

TEST(CountingCachedPages, TellFreshOnesFromThoseOfTheCache) {
  static_assert(tells_fresh<counting<cached_pages>> && tells_fresh<counting<os_pages>>);
  static_assert(!tells_fresh<counting<fixed_buffer>>);
  process_chunks().trim(0);
  counting<cached_pages> source;
  bool is_fresh = false;
  const block a = source.allocate(100000, 8, is_fresh);
  EXPECT_TRUE(a && is_fresh);
  EXPECT_EQ(source.held(), a.size);
  source.deallocate(a.data, 100000, 8);
  EXPECT_EQ(source.allocate(100000, 8, is_fresh).data, a.data);
  EXPECT_FALSE(is_fresh);
  source.return_to_system(a.data, 100000, 8);
}

}  // namespace
}  // namespace mallard
