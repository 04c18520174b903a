// Boost's containers over adaptive_multipool: list, set and map by v2_allocator, unordered ones by allocator;
// whole slabs and slabs of pieces.
#include <gtest/gtest.h>

#include <boost/container/list.hpp>
#include <boost/container/map.hpp>
#include <boost/container/set.hpp>
#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/adaptive_multipool.hpp"

namespace mallard::containers {
namespace {

constexpr int many = 5000;

// Half of what was inserted is erased again; what is left is as it was inserted.
template <class Container>
void fill_and_halve(Container& c) {
  for (int i = 0; i < many; ++i) c.emplace(i, -i);
  for (int i = 0; i < many; i += 2) c.erase(i);
  EXPECT_EQ(c.size(), static_cast<std::size_t>(many / 2));
  for (int i = 1; i < many; i += 2) ASSERT_EQ(c.find(i)->second, -i);
}

template <class Form>
class boost_pools : public testing::Test {
 protected:
  using heap_type = basic_adaptive_multipool<default_source, Form>;
  template <class T>
  using first = allocator<T, heap_type>;
  template <class T>
  using second = v2_allocator<T, heap_type>;

  // All that a container took comes back.
  void TearDown() override {
    heap_.trim(0);
    EXPECT_EQ(heap_.upstream().held(), 0u);
    EXPECT_FALSE(heap_.validate());
  }

  heap_type heap_;
};

using forms = testing::Types<slab_form<>, slab_form<256, 2, 2>>;
TYPED_TEST_SUITE(boost_pools, forms);

TYPED_TEST(boost_pools, ListAllocatesRangesInBursts) {
  using list_type = boost::container::list<int, typename TestFixture::template second<int>>;
  std::vector<int> range(many);
  std::iota(range.begin(), range.end(), 0);
  list_type list(this->heap_);
  list.insert(list.end(), range.begin(), range.end());
  list.remove_if([](int i) { return i % 2 == 0; });
  EXPECT_EQ(list.size(), range.size() / 2);
  list.insert(list.end(), range.begin(), range.end());
  EXPECT_EQ(std::accumulate(list.begin(), list.end(), 0), (many - 1) * many / 2 + many * many / 4);
}

TYPED_TEST(boost_pools, MapAndSet) {
  using pair = std::pair<const int, int>;
  boost::container::map<int, int, std::less<>, typename TestFixture::template second<pair>> map(this->heap_);
  fill_and_halve(map);
  boost::container::set<int, std::less<>, typename TestFixture::template second<int>> set(this->heap_);
  for (int i = 0; i < many; ++i) set.insert(i);
  set.erase(set.begin(), set.find(many / 2));
  EXPECT_EQ(*set.begin(), many / 2);
}

TYPED_TEST(boost_pools, UnorderedMapAndSet) {
  using pair = std::pair<const int, int>;
  boost::unordered_map<int, int, boost::hash<int>, std::equal_to<>,
                       typename TestFixture::template first<pair>>
      map(this->heap_);
  fill_and_halve(map);
  boost::unordered_set<int, boost::hash<int>, std::equal_to<>, typename TestFixture::template first<int>> set(
      this->heap_);
  for (int i = 0; i < many; ++i) set.insert(i % 100);
  EXPECT_EQ(set.size(), 100u);
}

}  // namespace
}  // namespace mallard::containers
