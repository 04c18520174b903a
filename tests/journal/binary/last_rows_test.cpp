// A distance is true: it leads back to the same address, in this chunk.
#include "journal/binary/last_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace mallard::journal {
namespace {

constexpr std::size_t rows = 1000;

TEST(last_rows, agrees_with_a_map) {
  std::mt19937_64 random(5);
  last_rows index;
  for (int chunk = 0; chunk < 20; ++chunk) {
    std::map<std::uint64_t, std::size_t> last;
    for (std::size_t row = 0; row < 3000; ++row) {
      const std::uint64_t number = 1 + (random() % 2 == 0 ? random() % 500 : random() / 2);
      const auto known = last.find(number);
      ASSERT_EQ(index.distance(number, row), known == last.end() ? 0 : row - known->second);
      index.record(number, row);
      last[number] = row;
    }
    index.clear();
  }
}

TEST(address_last_rows, an_address_is_found_where_it_stood_last) {
  address_last_rows index(rows);
  EXPECT_EQ(index.record(0x5000, 0), 0U);
  EXPECT_EQ(index.record(0x6000, 1), 0U);
  EXPECT_EQ(index.record(0x5000, 3), 3U);
  EXPECT_EQ(index.distance(0x5000, 4), 1U);
  EXPECT_EQ(index.distance(0x6000, 4), 3U);
  EXPECT_EQ(index.distance(0x7000, 4), 0U);
}

TEST(address_last_rows, a_new_chunk_knows_nothing_of_the_one_before) {
  address_last_rows index(rows);
  for (const std::uint64_t address : {std::uint64_t{0x5000}, std::uint64_t{0x5001}, std::uint64_t{0}}) {
    index.clear(rows);
    EXPECT_EQ(index.record(address, 999), 0U);
    index.clear(1000);
    EXPECT_EQ(index.distance(address, 999), 0U);
    EXPECT_EQ(index.record(address, 999), 0U);
  }
}

// Addresses of every form, over more rows than a slot can count, against the rows themselves.
TEST(address_last_rows, every_distance_leads_to_the_same_address) {
  std::mt19937_64 random(3);
  address_last_rows index(rows);
  std::size_t heap = 0;
  std::size_t found = 0;
  for (int chunk = 0; chunk < 2000; ++chunk) {
    std::vector<std::uint64_t> history;
    const std::size_t length = 1 + random() % rows;
    for (std::size_t row = 0; row < length; ++row) {
      std::uint64_t address = random() % 256 * 16;
      if (random() % 4 == 0) address = random() % 64;                             // null, unaligned
      if (random() % 8 == 0) address = (random() % 5 << 61) + random() % 64;      // beyond 2^48
      if (random() % 8 == 0) address = random() % 8 << 45 | (random() % 64 * 8);  // far apart
      history.push_back(address);
      const std::size_t expected = index.distance(address, row);
      const std::size_t distance = index.record(address, row);
      ASSERT_EQ(distance, expected);
      ASSERT_LE(distance, row);
      if (distance == 0) continue;
      ASSERT_EQ(history[row - distance], address);
      const auto last = std::find(history.rbegin() + 1, history.rend(), address);
      ASSERT_EQ(static_cast<std::ptrdiff_t>(distance), last - history.rbegin());
      ++found;
    }
    heap += length;
    index.clear(length);
  }
  EXPECT_GT(found * 4, heap) << "and most that come back are found";
}

TEST(address_last_rows, all_addresses_of_a_megabyte_are_found) {
  constexpr std::size_t blocks = 1U << 14;
  for (const std::uint64_t base : {0x5555'0000'0000U, 0x7fff'1234'5670U}) {
    address_last_rows index(2 * blocks);
    for (std::size_t i = 0; i < blocks; ++i) EXPECT_EQ(index.record(base + i * 64, i), 0U);
    for (std::size_t i = 0; i < blocks; ++i) ASSERT_EQ(index.record(base + i * 64, blocks + i), blocks);
  }
}

}  // namespace
}  // namespace mallard::journal
