#include "profile/live_blocks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace mallard::profile {
namespace {

TEST(live_blocks, agrees_with_a_map_over_many_random_steps) {
  std::mt19937_64 random(11);
  std::unordered_map<std::uint64_t, std::uint64_t> model;
  live_blocks blocks;
  for (std::uint64_t step = 0; step < 300'000; ++step) {
    const std::uint64_t address = 16 + random() % 20'000 * 16;
    if (const auto found = model.find(address); found != model.end()) {
      std::uint64_t size = 0;
      ASSERT_EQ(blocks.remove(address, size), live_blocks::end::of_block);
      ASSERT_EQ(size, found->second);
      model.erase(found);
    } else {
      std::uint64_t size = 0;
      ASSERT_EQ(blocks.remove(address, size), live_blocks::end::unmatched);
      ASSERT_FALSE(blocks.add(address, step));
      model.emplace(address, step);
    }
    ASSERT_EQ(blocks.count(), model.size());
  }
}

TEST(live_blocks, an_address_seen_again_before_its_free_ends_the_old_block) {
  live_blocks blocks;
  EXPECT_FALSE(blocks.add(0x10, 5));
  EXPECT_EQ(blocks.add(0x10, 7), 5U);
  EXPECT_EQ(blocks.count(), 1U);
  std::uint64_t size = 0;
  EXPECT_EQ(blocks.remove(0x10, size), live_blocks::end::late);
  EXPECT_EQ(blocks.remove(0x10, size), live_blocks::end::of_block);
  EXPECT_EQ(size, 7U);
  EXPECT_EQ(blocks.remove(0x10, size), live_blocks::end::unmatched);
}

TEST(live_blocks, a_free_of_null_matches_nothing) {
  live_blocks blocks;
  blocks.add(0x10, 5);
  std::uint64_t size = 0;
  EXPECT_EQ(blocks.remove(0, size), live_blocks::end::unmatched);
  EXPECT_EQ(blocks.count(), 1U);
}

}  // namespace
}  // namespace mallard::profile
