#include "profile/median_counts.hpp"

#include <gtest/gtest.h>

namespace mallard::profile {
namespace {

std::uint64_t median_of(std::initializer_list<std::uint64_t> numbers) {
  median_counts counts;
  for (const std::uint64_t n : numbers) counts.add(n);
  return counts.median();
}

TEST(median_counts, finds_the_middle_one) {
  EXPECT_EQ(median_of({}), 0u);
  EXPECT_EQ(median_of({7}), 7u);
  EXPECT_EQ(median_of({9, 1, 5}), 5u);
  EXPECT_EQ(median_of({1, 2, 3, 4}), 2u);
  EXPECT_EQ(median_of({4095, 4095, 1, 9000, 10000}), 4095u);
}

TEST(median_counts, large_numbers_are_nearly_exact) {
  for (const std::uint64_t n : {std::uint64_t{5001}, std::uint64_t{123456789}, UINT64_MAX}) {
    EXPECT_LE(median_of({n}), n);
    EXPECT_LE(n - median_of({n}), n / 2048);
  }
}

}  // namespace
}  // namespace mallard::profile
