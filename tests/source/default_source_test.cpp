#include "mallard/source/default_source.hpp"

#include <gtest/gtest.h>

#include "mallard/core/concepts.hpp"

namespace mallard {
namespace {

static_assert(heap<default_source> && counted<default_source> && predictable<default_source>);

TEST(DefaultSource, CountsTheWholePagesThatItHandsOut) {
  default_source source;
  const block page = source.allocate(1, 1);
  EXPECT_EQ(source.held(), page.size);
  EXPECT_EQ(page.size, os_pages::page_size());
  source.deallocate(page.data, 1, 1);
  EXPECT_EQ(source.held(), 0u) << "what the process caches is held by no heap";
}

TEST(DefaultSource, SharesChunksWithAllOthers) {
  default_source first;
  default_source second;
  const block chunk = first.allocate(100000, 1);
  first.deallocate(chunk.data, 100000, 1);
  EXPECT_EQ(second.allocate(100000, 1), chunk);
  second.deallocate(chunk.data, chunk.size, 1);
}

}  // namespace
}  // namespace mallard
