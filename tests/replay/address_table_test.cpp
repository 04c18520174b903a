#include "replay/address_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace mallard::replay {
namespace {

TEST(AddressTable, FindsWhatWasInsertedAndNothingElse) {
  address_table table;
  table.insert({0x1000, 7, 0});
  ASSERT_NE(table.find(0x1000), nullptr);
  EXPECT_EQ(table.find(0x1000)->slot, 7u);
  EXPECT_EQ(table.find(0x1010), nullptr);
  table.erase(table.find(0x1000));
  EXPECT_EQ(table.find(0x1000), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

// Growing, runs of colliding entries and holes inside them, against the library's map.
TEST(AddressTable, AgreesWithAMapOverARandomHistory) {
  std::mt19937_64 random(1);
  address_table table;
  std::unordered_map<std::uint64_t, std::uint32_t> expected;
  for (std::uint32_t step = 0; step < 200'000; ++step) {
    const std::uint64_t address = 16 * (1 + random() % 6000);
    if (const auto known = expected.find(address); known != expected.end()) {
      ASSERT_NE(table.find(address), nullptr);
      ASSERT_EQ(table.find(address)->slot, known->second);
      table.erase(table.find(address));
      expected.erase(known);
    } else {
      ASSERT_EQ(table.find(address), nullptr);
      table.insert({address, step, 0});
      expected[address] = step;
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto& [address, slot] : expected) EXPECT_EQ(table.find(address)->slot, slot);
}

}  // namespace
}  // namespace mallard::replay
