#include "profile/pairing.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "profile/object_log.hpp"

namespace mallard::profile {
namespace {

using journal::event;
using journal::event_kind;

event malloc_of(std::uint64_t address, std::uint64_t size = 10) {
  return {.kind = event_kind::malloc, .address = address, .size = size};
}
event free_of(std::uint64_t address) { return {.kind = event_kind::free, .address = address}; }
event realloc_of(std::uint64_t old_address, std::uint64_t address, std::uint64_t size = 20) {
  return {.kind = event_kind::realloc, .address = address, .size = size, .old_address = old_address};
}
event create(std::uint64_t region, std::uint64_t parent = 0) {
  return {.kind = event_kind::region_create, .region = region, .parent = parent};
}
event allocate_in(std::uint64_t region, std::uint64_t address, std::uint64_t size = 10) {
  return {.kind = event_kind::region_allocate, .address = address, .size = size, .region = region};
}
event free_in(std::uint64_t region, std::uint64_t address) {
  return {.kind = event_kind::region_free, .address = address, .region = region};
}
event clear(std::uint64_t region) { return {.kind = event_kind::region_clear, .region = region}; }
event destroy(std::uint64_t region) { return {.kind = event_kind::region_destroy, .region = region}; }

// Gives the events times of their own.
std::vector<event> over_time(std::vector<event> events) {
  for (std::size_t i = 0; i < events.size(); ++i) events[i].time = 100 * i;
  return events;
}

pairs pair_all(std::vector<event> events) { return pair(over_time(std::move(events))); }

std::vector<std::uint64_t> allocations_of(const std::vector<object>& objects) {
  std::vector<std::uint64_t> allocations;
  for (const object& o : objects) allocations.push_back(o.allocation);
  return allocations;
}

using numbers = std::vector<std::uint64_t>;

TEST(pairing, an_allocation_and_its_free_are_one_object) {
  const pairs found = pair(std::vector<event>{
      {.kind = event_kind::memalign,
       .thread = 1,
       .context = 7,
       .time = 5,
       .address = 64,
       .size = 3,
       .alignment = 64,
       .duration = 40},
      {.kind = event_kind::delete_, .thread = 2, .context = 8, .time = 9, .address = 64, .duration = 30}});
  ASSERT_EQ(found.ends.size(), 1U);
  EXPECT_EQ(found.ends[0], (object{.allocation = 0,
                                   .free = 1,
                                   .allocation_time = 5,
                                   .free_time = 9,
                                   .address = 64,
                                   .size = 3,
                                   .alignment = 64,
                                   .allocation_ns = 40,
                                   .free_ns = 30,
                                   .context = 7,
                                   .free_context = 8,
                                   .thread = 1,
                                   .free_thread = 2,
                                   .kind = event_kind::memalign,
                                   .free_kind = event_kind::delete_}));
}

TEST(pairing, what_is_never_freed_is_leaked_oldest_first) {
  const pairs found = pair_all({malloc_of(16), malloc_of(32), free_of(16), malloc_of(16), malloc_of(48)});
  EXPECT_EQ(allocations_of(found.ends), (numbers{0, 1, 3, 4}));
  EXPECT_EQ(found.ends[1].free, no_event);
  EXPECT_EQ(found.ends[1].free_thread, found.ends[1].thread);
  EXPECT_EQ(found.ends[1].between, 2U);
}

TEST(pairing, leaked_objects_come_in_pieces_of_any_length) {
  std::vector<event> events;
  for (std::uint64_t i = 1; i <= 10; ++i) events.push_back(malloc_of(16 * i));
  EXPECT_EQ(pair(events, 1, 3).ends, pair(events).ends);
}

TEST(pairing, ticks_become_ns) {
  const pairs found =
      pair(std::vector<event>{{.kind = event_kind::malloc, .time = 10, .address = 16, .duration = 3},
                              {.kind = event_kind::free, .time = 30, .address = 16}},
           0.5);
  EXPECT_EQ(found.ends[0].allocation_time, 5U);
  EXPECT_EQ(found.ends[0].free_time, 15U);
  EXPECT_EQ(found.ends[0].allocation_ns, 1.5F);
  EXPECT_EQ(found.time, 15U);
}

TEST(pairing, times_never_fall) {
  const pairs found = pair(std::vector<event>{{.kind = event_kind::malloc, .time = 10, .address = 16},
                                              {.kind = event_kind::free, .time = 4, .address = 16}});
  EXPECT_EQ(found.ends[0].free_time, 10U);
}

TEST(pairing, events_that_are_lost_keep_their_numbers) {
  object_log all;
  pairing objects({&all}, 1);
  const std::vector<event> events{malloc_of(16), free_of(16)};
  objects.add(journal::batch_of(events, 0));
  objects.add(journal::batch_of(events, 1000));
  EXPECT_EQ(allocations_of(all.ends), (numbers{0, 1000}));
  EXPECT_EQ(objects.counts().events, 4U);
  EXPECT_EQ(objects.counts().event_numbers, 1002U);
}

TEST(pairing, numbers_that_cannot_be_are_counted_on) {
  object_log all;
  pairing objects({&all}, 1);
  const std::vector<event> events{malloc_of(16), free_of(16)};
  for (const std::uint64_t first : {UINT64_MAX, std::uint64_t{0}, std::uint64_t{3}})
    objects.add(journal::batch_of(events, first));
  EXPECT_EQ(allocations_of(all.ends), (numbers{0, 2, 4}));
}

TEST(pairing, a_failed_allocation_is_no_object) {
  const pairs found = pair_all({malloc_of(0), realloc_of(0, 0)});
  EXPECT_TRUE(found.allocations.empty());
  EXPECT_EQ(found.counts.failed, 2U);
}

TEST(pairing, a_block_larger_than_any_memory_has_not_been) {
  const pairs found = pair_all({malloc_of(16, UINT64_MAX), malloc_of(32), realloc_of(32, 48, UINT64_MAX)});
  EXPECT_EQ(allocations_of(found.ends), (numbers{1}));
  EXPECT_EQ(found.counts.failed, 2U);
}

TEST(pairing, a_free_of_what_is_not_alive_is_counted) {
  const pairs found = pair_all({free_of(16), malloc_of(16), free_of(16), free_of(16), free_of(0)});
  EXPECT_EQ(found.counts.unmatched_frees, 3U);
  EXPECT_EQ(found.ends.size(), 1U);
}

TEST(pairing, an_address_seen_again_ends_the_old_object_and_its_late_free_nothing_more) {
  std::vector<event> events{malloc_of(16), malloc_of(16), free_of(16), free_of(16), free_of(16)};
  events[0].thread = 1;
  const pairs found = pair(over_time(events));
  ASSERT_EQ(found.ends.size(), 2U);
  EXPECT_EQ(found.ends[0].free, 1U);
  EXPECT_EQ(found.ends[0].free_time, 100U);
  EXPECT_EQ(found.ends[0].free_kind, event_kind::deallocate);
  EXPECT_EQ(found.ends[0].free_thread, 1U);
  EXPECT_EQ(found.ends[1].free, 3U);
  EXPECT_EQ(found.counts.inversions, 1U);
  EXPECT_EQ(found.counts.unmatched_frees, 1U);
}

TEST(pairing, a_free_long_after_an_address_was_seen_again_is_of_the_object_there) {
  std::vector<event> events{malloc_of(16), malloc_of(16), free_of(16), malloc_of(16), free_of(16)};
  for (std::size_t i = 2; i < events.size(); ++i) events[i].time = 2'000'000'000 + i;
  const pairs found = pair(events);
  ASSERT_EQ(found.ends.size(), 3U);
  EXPECT_EQ(found.ends[1].free, 2U);
  EXPECT_EQ(found.ends[2].free, 4U);
  EXPECT_EQ(found.counts.inversions, 1U);
}

TEST(pairing, a_reallocation_in_place_continues_the_chain) {
  const pairs found =
      pair_all({malloc_of(16, 10), realloc_of(16, 16, 20), realloc_of(16, 32, 30), free_of(32)});
  ASSERT_EQ(found.ends.size(), 3U);
  EXPECT_EQ(found.ends[0].free, 1U);
  EXPECT_EQ(found.ends[0].free_kind, event_kind::realloc);
  EXPECT_EQ(found.ends[0].origin, origin::fresh);
  EXPECT_EQ(found.ends[1].previous, 0U);
  EXPECT_EQ(found.ends[1].origin, origin::in_place);
  EXPECT_EQ(found.ends[1].size, 20U);
  EXPECT_EQ(found.ends[2].previous, 1U);
  EXPECT_EQ(found.ends[2].origin, origin::moved);
  EXPECT_EQ(found.ends[2].address, 32U);
}

TEST(pairing, a_timed_reallocation_counts_at_the_allocation) {
  std::vector<event> events{malloc_of(16), realloc_of(16, 16)};
  events[1].duration = 50;
  const pairs found = pair(events);
  EXPECT_EQ(found.ends[0].free_ns, 0.0F);
  EXPECT_EQ(found.ends[1].allocation_ns, 50.0F);
}

TEST(pairing, a_reallocation_of_null_is_an_allocation) {
  const pairs found = pair_all({realloc_of(0, 16)});
  ASSERT_EQ(found.ends.size(), 1U);
  EXPECT_EQ(found.ends[0].previous, no_event);
  EXPECT_EQ(found.ends[0].origin, origin::fresh);
}

TEST(pairing, a_reallocation_to_nothing_is_a_free) {
  const pairs found = pair_all({malloc_of(16), realloc_of(16, 0, 0)});
  ASSERT_EQ(found.ends.size(), 1U);
  EXPECT_EQ(found.ends[0].free, 1U);
  EXPECT_EQ(found.ends[0].free_kind, event_kind::free);
  EXPECT_EQ(found.counts.by_kind[static_cast<std::size_t>(event_kind::realloc)], 1U);
  EXPECT_EQ(found.counts.failed, 0U);
}

TEST(pairing, a_failed_reallocation_leaves_its_block_alive) {
  const pairs found = pair_all({malloc_of(16), realloc_of(16, 0, 500), free_of(16)});
  ASSERT_EQ(found.ends.size(), 1U);
  EXPECT_EQ(found.ends[0].free, 2U);
  EXPECT_EQ(found.counts.failed, 1U);
}

TEST(pairing, a_reallocation_of_an_unknown_block_begins_anew) {
  const pairs found = pair_all({realloc_of(16, 32), free_of(32)});
  ASSERT_EQ(found.ends.size(), 1U);
  EXPECT_EQ(found.ends[0].origin, origin::fresh);
  EXPECT_EQ(found.counts.unmatched_frees, 1U);
}

TEST(pairing, between_counts_what_the_allocating_thread_allocated_meanwhile) {
  std::vector<event> events{malloc_of(16), malloc_of(32),      malloc_of(48),
                            malloc_of(0),  realloc_of(32, 64), free_of(16)};
  events[2].thread = 1;  // another's
  const pairs found = pair(over_time(events));
  ASSERT_EQ(found.ends.size(), 4U);
  EXPECT_EQ(found.ends[0].allocation, 1U);
  EXPECT_EQ(found.ends[0].between, 0U);  // the reallocation that ended it does not count ...
  EXPECT_EQ(found.ends[1].allocation, 0U);
  EXPECT_EQ(found.ends[1].between, 2U);  // ... but for others, it does
}

TEST(pairing, between_counts_the_own_family_only) {
  const pairs found =
      pair_all({create(1), malloc_of(16), allocate_in(1, 160), malloc_of(32), free_in(1, 160), free_of(16)});
  EXPECT_EQ(found.ends[0].between, 0U);
  EXPECT_EQ(found.ends[1].between, 1U);
}

TEST(pairing, a_block_of_a_region_is_an_object_of_its_own) {
  const pairs found = pair_all({malloc_of(16), create(5), create(6, 5), allocate_in(5, 16),
                                allocate_in(6, 16), free_in(6, 16), free_of(16), free_in(5, 16)});
  ASSERT_EQ(found.ends.size(), 3U);
  EXPECT_EQ(allocations_of(found.ends), (numbers{4, 0, 3}));
  EXPECT_EQ(found.ends[0].region, 2U);
  EXPECT_EQ(found.ends[1].region, 0U);
  EXPECT_EQ(found.ends[2].region, 1U);
  EXPECT_EQ(found.regions[1].parent, 1U);
  EXPECT_EQ(found.counts.unmatched_frees, 0U);
}

TEST(pairing, clearing_ends_all_that_is_inside_youngest_first) {
  const pairs found = pair_all({create(1), allocate_in(1, 16), create(2, 1), allocate_in(2, 32),
                                allocate_in(1, 48), clear(1), allocate_in(1, 64)});
  EXPECT_EQ(allocations_of(found.ends), (numbers{4, 3, 1, 6}));
  EXPECT_EQ(found.ends[0].free, 5U);
  EXPECT_EQ(found.ends[0].free_kind, event_kind::region_clear);
  EXPECT_EQ(found.regions[0].clears, 1U);
  EXPECT_EQ(found.regions[0].ended, no_event);
  EXPECT_EQ(found.regions[1].ended, 5U);
}

TEST(pairing, destroying_ends_the_region_too) {
  const pairs found = pair_all({create(1), allocate_in(1, 16), destroy(1), create(1), allocate_in(1, 16)});
  ASSERT_EQ(found.regions.size(), 2U);
  EXPECT_EQ(found.regions[0].ended, 2U);
  EXPECT_EQ(found.ends[0].free_kind, event_kind::region_destroy);
  EXPECT_EQ(found.ends[1].region, 2U);
  EXPECT_EQ(found.ends[1].free, no_event);
}

TEST(pairing, a_region_created_while_it_lives_moves) {
  const pairs found = pair_all(
      {create(1), create(2), create(3, 1), allocate_in(3, 16), create(3, 2), destroy(1), destroy(2)});
  EXPECT_EQ(found.regions[2].parent, 2U);
  EXPECT_EQ(found.regions[2].ended, 6U);
  EXPECT_EQ(found.ends[0].free, 6U);
}

TEST(pairing, a_region_stays_where_it_would_move_into_one_inside_it) {
  const pairs found = pair_all({create(1), create(2, 1), create(3, 2), create(1, 3), allocate_in(1, 16),
                                allocate_in(3, 32), destroy(2)});
  EXPECT_EQ(found.counts.circular_moves, 1U);
  EXPECT_EQ(found.regions[0].parent, 0U);
  EXPECT_EQ(found.regions[0].ended, no_event);
  EXPECT_EQ(found.regions[1].ended, 6U);
  EXPECT_EQ(found.regions[2].ended, 6U);
  EXPECT_EQ(allocations_of(found.ends), (numbers{5, 4})) << "the block in the outer one lives on";
}

TEST(pairing, a_region_inside_itself_ends_once) {
  const pairs found = pair_all({create(1), create(1, 1), allocate_in(1, 16), destroy(1), destroy(1)});
  ASSERT_EQ(found.ends.size(), 1U);
  EXPECT_EQ(found.regions[0].ended, 3U);
  EXPECT_EQ(found.counts.circular_moves, 1U);
}

TEST(pairing, a_region_first_seen_in_use_began_before) {
  const pairs found =
      pair_all({free_in(9, 16), clear(9), destroy(9), create(7, 9), allocate_in(9, 16), destroy(9)});
  ASSERT_EQ(found.regions.size(), 2U);
  EXPECT_EQ(found.regions[0].parent, 0U);
  EXPECT_EQ(found.regions[1].created, no_event);
  EXPECT_EQ(found.regions[1].ended, 5U);
  EXPECT_EQ(found.ends.size(), 1U);
  EXPECT_EQ(found.counts.unmatched_frees, 0U);
}

TEST(pairing, an_address_reused_in_its_region_ends_the_old_object) {
  const pairs found =
      pair_all({create(1), allocate_in(1, 16), allocate_in(1, 16), free_in(1, 16), free_in(1, 16)});
  ASSERT_EQ(found.ends.size(), 2U);
  EXPECT_EQ(found.ends[0].free_kind, event_kind::region_free);
  EXPECT_EQ(found.ends[1].free, 3U);
  EXPECT_EQ(found.counts.inversions, 0U);
}

TEST(pairing, kinds_it_does_not_know_are_counted_and_skipped) {
  const pairs found =
      pair_all({malloc_of(16), {.kind = static_cast<event_kind>(200), .address = 16}, free_of(16)});
  EXPECT_EQ(found.counts.by_kind[200], 1U);
  EXPECT_EQ(found.ends[0].free, 2U);
}

}  // namespace
}  // namespace mallard::profile
