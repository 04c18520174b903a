// The heaps that hand out places: one_place, places_in_row and places_anew.
#include <gtest/gtest.h>

#include <boost/container/list.hpp>
#include <boost/container/vector.hpp>
#include <numeric>

#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/counted_allocator.hpp"
#include "allocplus/floors.hpp"

namespace mallard::bench {
namespace {

TEST(OnePlace, IsAskedOnceByAVectorThatGrowsAndNeverMovesIt) {
  v2_binding<one_place> binding(1000 * sizeof(int));
  using allocator = counted_allocator<int, v2_binding<one_place>>;
  tally counts;
  boost::container::vector<int, allocator> made(allocator(binding.allocator_of<int>(), counts));
  made.push_back(0);
  const int* const place = made.data();
  for (int i = 1; i < 1000; ++i) made.push_back(i);
  EXPECT_EQ(made.data(), place);
  EXPECT_EQ(counts.allocations, 1u);
  EXPECT_EQ(counts.forward, 0u);
  made.resize(10);
  made.shrink_to_fit();
  EXPECT_EQ(made.capacity(), 10u);
  EXPECT_EQ(made[9], 9);
}

TEST(PlacesInRow, KeepsWhatAListHasAndBeginsAnewWhenItIsEmpty) {
  v2_binding<places_in_row> binding(100 * 3 * sizeof(void*));
  using list = boost::container::list<int, v2_allocator<int, places_in_row>>;
  const int* first = nullptr;
  for (int turn = 0; turn < 3; ++turn) {
    list made(binding.allocator_of<int>());
    made.insert(made.end(), 60, turn);
    made.push_back(turn);
    made.insert(made.end(), 39, turn);
    EXPECT_EQ(std::accumulate(made.begin(), made.end(), 0), 100 * turn);
    if (turn == 0) first = &made.front();
    EXPECT_EQ(&made.front(), first);
    made.erase(made.begin(), std::next(made.begin(), 50));
    made.pop_front();
  }
}

TEST(PlacesAnew, UsesNothingTwiceBeforeItBeginsAnew) {
  places_anew places(10 * 24);
  void* const first = places.allocate(24, 8).data;
  places.deallocate(first, 24, 8);
  void* const second = places.allocate(20, 4).data;
  EXPECT_EQ(static_cast<std::byte*>(second), static_cast<std::byte*>(first) + 24);
  EXPECT_EQ(static_cast<std::byte*>(places.allocate(24, 8).data), static_cast<std::byte*>(second) + 24);
  places.begin_anew();
  EXPECT_EQ(places.allocate(24, 8).data, first);
}

}  // namespace
}  // namespace mallard::bench
