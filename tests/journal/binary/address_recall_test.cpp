// What is recalled is true: a distance leads back to the same address, in this chunk.
#include "journal/binary/address_recall.hpp"

#include <gtest/gtest.h>

#include <random>

namespace mallard::journal {
namespace {

constexpr std::size_t rows = 1000;

TEST(address_recall, an_address_is_found_where_it_stood_last) {
  address_recall index(rows);
  EXPECT_EQ(index.note(0x5000, 0), 0U);
  EXPECT_EQ(index.note(0x6000, 1), 0U);
  EXPECT_EQ(index.note(0x5000, 3), 3U);
  EXPECT_EQ(index.distance(0x5000, 4), 1U);
  EXPECT_EQ(index.distance(0x6000, 4), 3U);
  EXPECT_EQ(index.distance(0x7000, 4), 0U);
}

TEST(address_recall, a_new_chunk_knows_nothing_of_the_one_before) {
  address_recall index(rows);
  for (const std::uint64_t address : {std::uint64_t{0x5000}, std::uint64_t{0x5001}, std::uint64_t{0}}) {
    index.forget(rows);
    EXPECT_EQ(index.note(address, 999), 0U);
    index.forget(1000);
    EXPECT_EQ(index.distance(address, 999), 0U);
    EXPECT_EQ(index.note(address, 999), 0U);
  }
}

// Addresses of every form, over more rows than a slot can count, against the rows themselves.
TEST(address_recall, every_distance_leads_to_the_same_address) {
  std::mt19937_64 random(3);
  address_recall index(rows);
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
      const std::size_t told = index.distance(address, row);
      const std::size_t distance = index.note(address, row);
      ASSERT_EQ(told, distance);
      ASSERT_LE(distance, row);
      if (distance == 0) continue;
      ASSERT_EQ(history[row - distance], address);
      const auto last = std::find(history.rbegin() + 1, history.rend(), address);
      ASSERT_EQ(static_cast<std::ptrdiff_t>(distance), last - history.rbegin());
      ++found;
    }
    heap += length;
    index.forget(length);
  }
  EXPECT_GT(found * 4, heap) << "and most that come back are found";
}

TEST(address_recall, a_heap_of_a_megabyte_is_recalled_whole) {
  constexpr std::size_t blocks = 1U << 14;
  for (const std::uint64_t base : {0x5555'0000'0000U, 0x7fff'1234'5670U}) {
    address_recall index(2 * blocks);
    for (std::size_t i = 0; i < blocks; ++i) EXPECT_EQ(index.note(base + i * 64, i), 0U);
    for (std::size_t i = 0; i < blocks; ++i) ASSERT_EQ(index.note(base + i * 64, blocks + i), blocks);
  }
}

}  // namespace
}  // namespace mallard::journal
