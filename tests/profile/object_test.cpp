#include "profile/object.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using mallard::profile::largest_of_class;
using mallard::profile::size_class;
using mallard::profile::size_classes;

TEST(size_class, starts_with_everything_up_to_eight_bytes) {
  EXPECT_EQ(size_class(0), 0U);
  EXPECT_EQ(size_class(1), 0U);
  EXPECT_EQ(size_class(8), 0U);
  EXPECT_EQ(size_class(9), 1U);
}

TEST(size_class, goes_up_to_its_largest_size_and_no_further) {
  for (unsigned number = 0; number + 1 < size_classes; ++number) {
    const std::uint64_t largest = largest_of_class(number);
    EXPECT_EQ(size_class(largest), number) << largest;
    EXPECT_EQ(size_class(largest + 1), number + 1) << largest;
  }
}

TEST(size_class, ends_each_doubling_at_a_power_of_two) {
  for (std::uint64_t power = 16; power <= std::uint64_t{1} << 18; power *= 2)
    EXPECT_EQ(largest_of_class(size_class(power)), power);
}

TEST(size_class, is_at_most_a_quarter_wide) {
  for (unsigned number = 1; number + 1 < size_classes; ++number) {
    const std::uint64_t below = largest_of_class(number - 1);
    EXPECT_LE(4 * (largest_of_class(number) - below), below) << number;
  }
}

TEST(size_class, takes_all_larger_ones_into_the_last) {
  EXPECT_EQ(size_class(393216), 62U);
  EXPECT_EQ(size_class(393217), 63U);
  EXPECT_EQ(size_class(UINT64_MAX), 63U);
}

}  // namespace
