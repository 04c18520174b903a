#include "profile/live_objects.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "profile/object_log.hpp"

namespace mallard::profile {
namespace {

object numbered(std::uint64_t n) {
  return {.allocation = n,
          .previous = n / 2,
          .allocation_time = n * n,
          .address = ~n,
          .size = n % 2 == 0 ? n : journal::largest_possible,
          .alignment = n % 3 == 0 ? UINT64_MAX - n : 0,
          .allocation_ns = static_cast<float>(n) / 2,
          .context = static_cast<std::uint32_t>(n + 1),
          .thread = static_cast<std::uint32_t>(n + 2),
          .free_thread = static_cast<std::uint32_t>(n + 2),
          .region = static_cast<std::uint32_t>(n + 3),
          .kind = static_cast<journal::event_kind>(n % 256),
          .origin = static_cast<origin>(n % 3)};
}

TEST(live_objects, are_what_they_were_allocated_as) {
  live_objects objects;
  for (std::uint64_t n = 0; n < 10'000; ++n) ASSERT_EQ(objects.add(numbered(n), n + 7), n);
  for (std::uint32_t slot = 0; slot < 10'000; ++slot) {
    ASSERT_EQ(objects[slot], numbered(slot));
    ASSERT_EQ(objects.allocation(slot), slot);
    ASSERT_EQ(objects.thread(slot), slot + 2);
    ASSERT_EQ(objects.note(slot), slot + 7);
    ASSERT_TRUE(objects.alive(slot));
  }
}

TEST(live_objects, slots_are_dense_and_taken_again) {
  live_objects objects;
  for (std::uint32_t slot = 0; slot < 5; ++slot) EXPECT_EQ(objects.add(numbered(slot), 0), slot);
  objects.remove(3);
  EXPECT_FALSE(objects.alive(3));
  EXPECT_EQ(objects.add(numbered(99), 0), 3U);  // aligned, as the one before
  EXPECT_EQ(objects[3], numbered(99));
  EXPECT_EQ(objects.add(numbered(5), 0), 5U);
  EXPECT_GE(objects.slots(), 6U);
}

TEST(live_objects, any_number_may_be_expected) {
  live_objects objects;
  objects.expect(0);
  objects.expect(UINT32_MAX);
  EXPECT_EQ(objects.slots(), 0U);
}

}  // namespace
}  // namespace mallard::profile
