#include "mallard/heap/per_class.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <list>
#include <map>

#include "mallard/allocator/allocator.hpp"
#include "mallard/layer/failing.hpp"

namespace mallard {
namespace {

static_assert(clearable<per_class> && releasable<per_class> && burst<per_class> && predictable<per_class>);
static_assert(std::is_default_constructible_v<per_class>);
static_assert(heap_name<per_class> == "per_class");

TEST(PerClass, NoTypeIsRoundedUpToOneKibibyte) {
  const per_class heap;
  for (std::size_t words = 1; words <= 128; ++words) EXPECT_EQ(heap.received_size(8 * words, 8), 8 * words);
  EXPECT_EQ(heap.received_size(20, 4), 24u);
}

template <std::size_t Words>
struct node {
  std::array<std::uint64_t, Words> words;
};

TEST(PerClass, TypesOfDifferentSizesNeverShareAList) {
  per_class heap;
  const allocator<node<81>, per_class> some(heap);
  const allocator<node<82>, per_class> others(heap);
  auto a = some;
  auto b = others;
  node<81>* const first = a.allocate(1);
  a.deallocate(first, 1);
  EXPECT_NE(static_cast<void*>(b.allocate(1)), static_cast<void*>(first));
  EXPECT_EQ(a.allocate(1), first) << "it waits for its own kind";
}

TEST(PerClass, ContainersOfManyNodesShareItsMemory) {
  basic_per_class<failing<default_source>> heap;
  using shared = basic_per_class<failing<default_source>>;
  std::list<int, allocator<int, shared>> list(heap);
  std::map<int, int, std::less<>, allocator<std::pair<const int, int>, shared>> map(heap);
  for (int i = 0; i < 30; ++i) {
    list.push_back(i);
    map.emplace(i, i);
  }
  EXPECT_EQ(heap.upstream().requests(), 1u);
}

}  // namespace
}  // namespace mallard
