#include "mallard/allocator/adaptive_pool_allocator.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace mallard {
namespace {

static_assert(std::is_same_v<adaptive_pool_allocator<int>::version, std::integral_constant<unsigned, 2>>);
static_assert(std::is_same_v<adaptive_pool_allocator<int, 1>, allocator<int, adaptive_multipool>>);
static_assert(std::is_same_v<adaptive_pool_heap<100, 2, 5>::form, slab_form<100, 2, 5>>);

template <class Heap, template <class> class Allocator>
void containers_live_and_leave_nothing() {
  Heap heap;
  {
    std::list<int, Allocator<int>> list(heap);
    std::map<int, int, std::less<>, Allocator<std::pair<const int, int>>> map(heap);
    std::unordered_map<int, int, std::hash<int>, std::equal_to<>, Allocator<std::pair<const int, int>>> table(
        heap);
    for (int i = 0; i < 5000; ++i) {
      list.push_back(i);
      map.emplace(i, -i);
      table.emplace(i, -i);
    }
    for (int i = 0; i < 5000; i += 2) {
      map.erase(i);
      table.erase(i);
    }
    EXPECT_EQ(map.size(), 2500u);
    EXPECT_EQ(table.at(4999), -4999);
    EXPECT_EQ(list.back(), 4999);
  }
  heap.trim(0);
  EXPECT_EQ(heap.upstream().held(), 0u);
}

template <class T>
using first_version = adaptive_pool_allocator<T, 1>;
template <class T>
using second_version = adaptive_pool_allocator<T>;
template <class T>
using of_pieces = adaptive_pool_allocator<T, 2, 256, 2, 2>;

TEST(AdaptivePoolAllocator, ServesContainersOfNodesAndTables) {
  containers_live_and_leave_nothing<adaptive_pool_heap<>, first_version>();
  containers_live_and_leave_nothing<adaptive_pool_heap<>, second_version>();
  containers_live_and_leave_nothing<adaptive_pool_heap<256, 2, 2>, of_pieces>();
}

TEST(AdaptivePoolAllocator, AllocatesAndFreesNodesInBursts) {
  adaptive_pool_heap<> heap;
  adaptive_pool_allocator<std::pair<int, double>> nodes(heap);
  decltype(nodes)::multiallocation_chain burst;
  nodes.allocate_individual(1000, burst);
  EXPECT_EQ(burst.size(), 1000u);
  nodes.deallocate_individual(burst);
  heap.trim(0);
  EXPECT_EQ(heap.upstream().held(), 0u);
}

}  // namespace
}  // namespace mallard
