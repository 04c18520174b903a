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
  EXPECT_EQ(source.held(), 0u);
}

}  // namespace
}  // namespace mallard
