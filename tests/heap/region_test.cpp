#include "mallard/heap/region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <span>
#include <string>
#include <type_traits>

#include "mallard/allocator/allocator.hpp"
#include "mallard/layer/failing.hpp"

namespace mallard {
namespace {

static_assert(nestable<region> && clearable<region> && rewindable<region> && owning<region> &&
              expandable<region> && shrinkable<region> && predictable<region> && inspectable<region>);
static_assert(std::is_default_constructible_v<region> && !std::is_copy_constructible_v<region>);
static_assert(heap_name<region> == "region");

TEST(Region, HoldsNothingBeforeItsFirstBlock) {
  basic_region<failing<default_source>> heap;
  const basic_region<failing<default_source>> child(heap, nesting::cleared_with_parent);
  EXPECT_EQ(heap.upstream().requests(), 0u);
  EXPECT_TRUE(heap.allocate(1, 1));
  EXPECT_EQ(heap.usage().held, 8192u);
}

TEST(Region, ItsChunksDoubleUpToOneMebibyte) {
  region heap;
  std::size_t most = 0;
  for (std::size_t before = 0; heap.usage().held < (8u << 20); before = heap.usage().held) {
    while (heap.usage().held == before) ASSERT_TRUE(heap.allocate(1000, 8));
    most = std::max(most, heap.usage().held - before);
    EXPECT_LE(heap.usage().held, 2 * before + 8192);
  }
  EXPECT_EQ(most, 1u << 20);
}

TEST(Region, ARequestEndsWithItsConnection) {
  region process;
  region connection(process, nesting::ends_with_parent);
  for (int i = 0; i < 100; ++i) {
    region request(connection, nesting::cleared_with_parent);
    std::list<std::string, allocator<std::string, region>> headers(request);
    for (int header = 0; header < 100; ++header) headers.emplace_back("value");
  }
  EXPECT_EQ(process.upstream().held(), 0u);
  EXPECT_LE(process.upstream().max_held(), 16384u) << "one request at a time";
}

TEST(Region, MayBeginInABuffer) {
  std::array<std::byte, 1024> bytes;
  region heap{std::span<std::byte>(bytes)};
  const region child(heap, nesting::ends_with_parent);
  EXPECT_EQ(heap.allocate(100, 1).data, bytes.data());
  EXPECT_EQ(heap.upstream().held(), 0u);
}

}  // namespace
}  // namespace mallard
