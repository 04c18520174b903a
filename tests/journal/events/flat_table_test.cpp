#include "journal/events/flat_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <unordered_map>

#include "journal/events/metadata.hpp"

namespace mallard::journal {
namespace {

using table_of_numbers = flat_table<std::uint64_t, std::uint32_t>;

TEST(flat_table, finds_what_was_inserted_and_nothing_else) {
  table_of_numbers table;
  table.insert(0x1000, 7);
  ASSERT_NE(table.find(0x1000), nullptr);
  EXPECT_EQ(table.find(0x1000)->value, 7u);
  EXPECT_EQ(table.find(0x1010), nullptr);
  EXPECT_EQ(table.find(0), nullptr);
  table.erase(table.find(0x1000));
  EXPECT_EQ(table.find(0x1000), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

// Growing, runs of colliding entries and holes inside them, against the library's map.
TEST(flat_table, agrees_with_a_map_over_a_random_history) {
  std::mt19937_64 random(1);
  table_of_numbers table;
  std::unordered_map<std::uint64_t, std::uint32_t> expected;
  for (std::uint32_t step = 0; step < 200'000; ++step) {
    const std::uint64_t address = 16 * (1 + random() % 6000);
    if (const auto known = expected.find(address); known != expected.end()) {
      ASSERT_NE(table.find(address), nullptr);
      ASSERT_EQ(table.find(address)->value, known->second);
      table.erase(table.find(address));
      expected.erase(known);
    } else {
      ASSERT_EQ(table.find(address), nullptr);
      table.insert(address, step);
      expected[address] = step;
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto& [address, slot] : expected) EXPECT_EQ(table.find(address)->value, slot);
}

TEST(tick_scale, rounds_to_the_nearest_ns) {
  const tick_scale clock(0.4);
  EXPECT_EQ(clock.ns(0), 0U);
  EXPECT_EQ(clock.ns(1), 0U);
  EXPECT_EQ(clock.ns(2), 1U);
  EXPECT_EQ(clock.ns(5), 2U);
}

TEST(tick_scale, leaves_ns_as_they_are) {
  const std::uint64_t since_the_epoch = 1'763'780'400'123'456'789;
  EXPECT_EQ(tick_scale(1).ns(since_the_epoch), since_the_epoch);
}

TEST(tick_scale, keeps_what_does_not_fit_at_the_largest_number) {
  EXPECT_EQ(tick_scale(1e9).ns(UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(tick_scale(std::numeric_limits<double>::infinity()).ns(0), UINT64_MAX);
}

}  // namespace
}  // namespace mallard::journal
