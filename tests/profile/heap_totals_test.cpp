#include "profile/heap_totals.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>

namespace mallard::profile {
namespace {

constexpr std::uint64_t page = held_pages::page_bytes;

TEST(held_pages, a_page_is_held_while_anything_on_it_lives) {
  held_pages held;
  held.add(page + 16, 100);
  held.add(page + 200, 100);
  EXPECT_EQ(held.bytes(), page);
  held.remove(page + 16, 100);
  EXPECT_EQ(held.bytes(), page);
  held.remove(page + 200, 100);
  EXPECT_EQ(held.bytes(), 0U);
}

TEST(held_pages, a_block_holds_all_pages_that_it_touches) {
  held_pages held;
  held.add(2 * page - 1, 2);
  EXPECT_EQ(held.bytes(), 2 * page);
  held.add(10 * page, 3 * page);
  EXPECT_EQ(held.bytes(), 5 * page);
  held.add(20 * page + 1, 3 * page);
  EXPECT_EQ(held.bytes(), 9 * page);
}

TEST(held_pages, a_block_of_no_bytes_lies_on_a_page) {
  held_pages held;
  held.add(16, 0);
  EXPECT_EQ(held.bytes(), page);
  held.remove(16, 0);
  EXPECT_EQ(held.bytes(), 0U);
}

TEST(held_pages, the_end_of_the_addresses_is_no_limit) {
  held_pages held;
  held.add(UINT64_MAX, std::uint64_t{1} << 47);
  EXPECT_EQ(held.bytes(), page);
  held.add(UINT64_MAX - 2 * page, std::uint64_t{1} << 47);
  EXPECT_EQ(held.bytes(), 3 * page);
  held.remove(UINT64_MAX - 2 * page, std::uint64_t{1} << 47);
  held.remove(UINT64_MAX, std::uint64_t{1} << 47);
  EXPECT_EQ(held.bytes(), 0U);
}

TEST(held_pages, agrees_with_a_set_of_pages_over_random_blocks) {
  std::mt19937_64 random(3);
  held_pages held;
  std::map<std::uint64_t, std::uint64_t> blocks;  // size by address: 32 places that do not overlap
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t place = 5 * page * (random() % 32) + 16;
    if (const auto found = blocks.find(place); found != blocks.end()) {
      held.remove(place, found->second);
      blocks.erase(found);
    } else {
      blocks[place] = random() % (5 * page);
      held.add(place, blocks[place]);
    }
    std::set<std::uint64_t> pages;
    for (const auto& [address, size] : blocks)
      for (std::uint64_t at = address / page; at <= (address + (size == 0 ? 0 : size - 1)) / page; ++at)
        pages.insert(at);
    ASSERT_EQ(held.bytes(), pages.size() * page) << "step " << step;
  }
}

}  // namespace
}  // namespace mallard::profile
