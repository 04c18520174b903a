#include "mallard/source/cached_pages.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

#include "mallard/core/concepts.hpp"

namespace mallard {
namespace {

static_assert(heap<cached_pages> && predictable<cached_pages> && concurrent<cached_pages>);
static_assert(!layered<cached_pages> && std::is_empty_v<cached_pages>);

long faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(CachedPages, GivesWholePages) {
  cached_pages pages;
  const std::size_t page = os_pages::page_size();
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, page, page + 1, 10 * page}) {
    const block b = pages.allocate(size, 1);
    ASSERT_TRUE(b);
    EXPECT_TRUE(is_aligned(b.data, page));
    EXPECT_EQ(b.size, align_up(size == 0 ? 1 : size, page));
    EXPECT_EQ(pages.received_size(size, 1), b.size);
    std::memset(b.data, 1, b.size);
    pages.deallocate(b.data, size, 1);
  }
}

TEST(CachedPages, OfOneServeAnotherAndCostNoFaultAgain) {
  constexpr std::size_t size = std::size_t{1} << 20;
  void* chunk = nullptr;
  {
    cached_pages first;
    const block b = first.allocate(size, 8);
    std::memset(b.data, 1, b.size);
    first.deallocate(b.data, size, 8);
    chunk = b.data;
  }
  cached_pages second;
  const long before = faults();
  const block b = second.allocate(size, 8);
  std::memset(b.data, 2, b.size);
  EXPECT_LT(faults() - before, 16) << "a fault for each of 256 pages";
  EXPECT_EQ(b.data, chunk);
  second.deallocate(b.data, size, 8);
}

TEST(CachedPages, AreMappedAnewWhereTheCacheIsSwitchedOff) {
  process_chunks().set_limit(0);
  cached_pages pages;
  const block b = pages.allocate(7, 8);
  pages.deallocate(b.data, 7, 8);
  EXPECT_EQ(process_chunks().mapped(), 0u);
  process_chunks().set_limit(chunk_cache::default_limit);
}

}  // namespace
}  // namespace mallard
