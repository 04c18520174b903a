#include "profile/live_objects.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <unordered_map>
#include <vector>

#include "journal/events/batch_of.hpp"
#include "profile/live_levels.hpp"
#include "profile/object_log.hpp"
#include "profile/pairing.hpp"
#include "profile/region_instances.hpp"

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

TEST(live_blocks, agrees_with_a_map_over_many_random_steps) {
  std::mt19937_64 random(11);
  std::unordered_map<std::uint64_t, std::uint64_t> model;
  live_blocks blocks;
  for (std::uint64_t step = 0; step < 300'000; ++step) {
    const std::uint64_t address = 16 + random() % 20'000 * 16;
    if (const auto found = model.find(address); found != model.end()) {
      std::uint64_t size = 0;
      ASSERT_EQ(blocks.remove(address, size, step), live_blocks::end::of_block);
      ASSERT_EQ(size, found->second);
      model.erase(found);
    } else {
      std::uint64_t size = 0;
      ASSERT_EQ(blocks.remove(address, size, step), live_blocks::end::unmatched);
      ASSERT_FALSE(blocks.add(address, step, step));
      model.emplace(address, step);
    }
    ASSERT_EQ(blocks.count(), model.size());
  }
}

TEST(live_blocks, an_address_seen_again_before_its_free_ends_the_old_block) {
  live_blocks blocks;
  EXPECT_FALSE(blocks.add(0x10, 5, 1));
  EXPECT_EQ(blocks.add(0x10, 7, 2), 5U);
  EXPECT_EQ(blocks.count(), 1U);
  std::uint64_t size = 0;
  EXPECT_EQ(blocks.remove(0x10, size, 3), live_blocks::end::late);
  EXPECT_EQ(blocks.remove(0x10, size, 3), live_blocks::end::of_block);
  EXPECT_EQ(size, 7U);
  EXPECT_EQ(blocks.remove(0x10, size, 3), live_blocks::end::unmatched);
}

TEST(live_blocks, a_free_that_comes_a_second_later_is_the_present_blocks) {
  live_blocks blocks;
  blocks.add(0x10, 5, 1'000'000'000);
  EXPECT_EQ(blocks.add(0x10, 7, 2'000'000'000), 5U);
  std::uint64_t size = 0;
  EXPECT_EQ(blocks.remove(0x10, size, 3'100'000'000), live_blocks::end::of_block);
  EXPECT_EQ(size, 7U);
  blocks.add(0x10, 9, 4'000'000'000);
  EXPECT_EQ(blocks.remove(0x10, size, 4'000'000'001), live_blocks::end::of_block);
}

TEST(live_blocks, a_free_of_null_matches_nothing) {
  live_blocks blocks;
  blocks.add(0x10, 5, 1);
  std::uint64_t size = 0;
  EXPECT_EQ(blocks.remove(0, size, 3), live_blocks::end::unmatched);
  EXPECT_EQ(blocks.count(), 1U);
}

using rows = std::vector<std::uint64_t>;

TEST(live_levels, a_bucket_has_its_most_and_what_was_alive_at_its_start) {
  live_levels levels(1, 400, 4);
  levels.changed(0, 10, 5);
  levels.changed(0, 20, 9);
  levels.changed(0, 30, 4);
  levels.changed(0, 110, 1);  // 4 until then
  levels.changed(0, 350, 7);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({9, 4, 1, 7}));
}

TEST(live_levels, a_bucket_begins_with_its_first_nanosecond) {
  live_levels levels(1, 100, 3);  // at 0, 33.3, 66.7
  levels.changed(0, 33, 1);
  levels.changed(0, 34, 2);
  levels.changed(0, 66, 3);
  levels.changed(0, 67, 4);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({1, 3, 4}));
}

TEST(live_levels, the_level_goes_on_to_the_end) {
  live_levels levels(2, 100, 5);
  levels.changed(1, 25, 6);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({0, 0, 0, 0, 0, 0, 6, 6, 6, 6}));
}

TEST(live_levels, what_is_at_the_end_or_behind_it_is_in_the_last_bucket) {
  live_levels levels(1, 100, 2);
  levels.changed(0, 100, 3);
  levels.changed(0, UINT64_MAX, 8);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({0, 8}));
}

TEST(live_levels, what_is_said_to_be_earlier_is_in_the_latest_bucket) {
  live_levels levels(2, 100, 2);
  levels.changed(0, 60, 3);
  levels.changed(1, 40, 8);
  levels.changed(1, 45, 0);
  levels.finish();
  EXPECT_EQ(levels.most(), rows({0, 3, 0, 8}));
}

TEST(live_levels, no_buckets_and_no_time_are_no_trouble) {
  live_levels none(3, 100, 0);
  none.changed(2, 50, 1);
  none.finish();
  EXPECT_TRUE(none.most().empty());

  live_levels at_once(1, 0, 2);
  at_once.changed(0, 0, 1);
  at_once.finish();
  EXPECT_EQ(at_once.most(), rows({0, 1}));
}

TEST(live_levels, agrees_with_a_level_for_each_nanosecond) {
  std::mt19937_64 random(23);
  constexpr std::uint64_t end = 1'000;
  constexpr std::uint32_t buckets = 7;
  live_levels levels(1, end, buckets);
  rows expected(buckets);
  std::uint64_t level = 0;
  for (std::uint64_t time = 0; time < end; ++time) {
    std::uint64_t& most = expected[time * buckets / end];
    most = std::max(most, level);
    if (random() % 40 != 0) continue;
    level = random() % 100;
    levels.changed(0, time, level);
    most = std::max(most, level);
  }
  levels.finish();
  EXPECT_EQ(levels.most(), expected);
}

using journal::event;
using journal::event_kind;

TEST(region_instances, totals_count_what_is_allocated_in_regions_and_nothing_else) {
  const std::uint64_t outer = 0x10;
  const std::uint64_t inner = 0x20;
  const event events[] = {
      {.kind = event_kind::malloc, .address = 0x1000, .size = 4096},
      {.kind = event_kind::region_create, .region = outer},
      {.kind = event_kind::region_allocate, .address = 0x1000, .size = 100, .region = outer},
      {.kind = event_kind::region_create, .region = inner, .parent = outer},
      {.kind = event_kind::region_allocate, .address = 0x1100, .size = 30, .region = inner},
      {.kind = event_kind::region_allocate, .address = 0x1200, .size = 50, .region = inner},
      {.kind = event_kind::region_free, .address = 0x1200, .region = inner},
      {.kind = event_kind::region_clear, .region = outer},  // ends the inner one, too
      {.kind = event_kind::region_allocate, .address = 0x1000, .size = 20, .region = outer},
      {.kind = event_kind::region_destroy, .region = outer},
  };
  region_instances regions;
  pairing pairs({&regions}, 1);
  pairs.add(journal::batch_of(events));
  pairs.finish();
  EXPECT_EQ(regions.totals().regions, 2u);
  EXPECT_EQ(regions.totals().objects, 4u);
  EXPECT_EQ(regions.totals().bytes, 200u);
  EXPECT_EQ(regions.totals().peak_live_bytes, 180u);
  EXPECT_EQ(regions.totals().peak_live_objects, 3u);
}

}  // namespace
}  // namespace mallard::profile
