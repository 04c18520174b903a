#include "profile/live_objects.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace mallard::profile {
namespace {

TEST(live_objects, slots_are_dense_and_taken_again) {
  live_objects objects;
  EXPECT_EQ(objects.take(), 0U);
  EXPECT_EQ(objects.take(), 1U);
  EXPECT_EQ(objects.take(), 2U);
  objects.give_back(1);
  EXPECT_EQ(objects.take(), 1U);
  EXPECT_EQ(objects.take(), 3U);
}

TEST(live_objects, stay_where_they_are_while_more_are_born) {
  live_objects objects;
  const std::uint32_t first = objects.take();
  live_object* const place = &objects[first];
  place->what.size = 77;
  std::set<std::uint32_t> taken{first};
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(taken.insert(objects.take()).second);
  EXPECT_EQ(&objects[first], place);
  EXPECT_EQ(place->what.size, 77U);
  EXPECT_EQ(*taken.rbegin() + 1, taken.size());
  EXPECT_GE(objects.slots(), taken.size());
}

TEST(live_objects, any_number_may_be_expected) {
  live_objects objects;
  objects.expect(0);
  objects.expect(UINT32_MAX);
  EXPECT_EQ(objects.slots(), 0U);
}

}  // namespace
}  // namespace mallard::profile
