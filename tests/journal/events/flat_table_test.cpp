#include "journal/events/flat_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

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

}  // namespace
}  // namespace mallard::journal
