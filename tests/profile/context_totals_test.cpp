#include "profile/context_totals.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "journal/events/batch_of.hpp"
#include "profile/heap_totals.hpp"
#include "profile/object_log.hpp"

namespace mallard::profile {
namespace {

using journal::event;
using journal::event_kind;

// What is found in these events, of contexts below 8.
std::vector<context_figures> figures_of(std::span<const event> events) {
  context_totals totals;
  pairing pairs({&totals}, 1);
  pairs.add(journal::batch_of(events));
  pairs.finish();
  return totals.figures(8);
}

// The event behind which most is alive for the first time, by adding up all that is alive at each.
std::uint64_t peak_of(const std::vector<object>& objects, std::uint64_t events) {
  std::uint64_t most = 0;
  std::uint64_t peak = 0;
  for (std::uint64_t event = 0; event < events; ++event) {
    std::uint64_t live = 0;
    for (const object& o : objects)
      if (o.region == 0 && o.allocation <= event && o.free > event) live += o.size;
    if (live <= most) continue;
    most = live;
    peak = event;
  }
  return peak;
}

TEST(context_totals, tells_what_is_alive_at_the_peak_and_at_the_end) {
  const event events[] = {
      {.kind = event_kind::malloc, .context = 1, .time = 10, .address = 0x10, .size = 100},
      {.kind = event_kind::new_, .context = 2, .time = 20, .address = 0x20, .size = 7},
      {.kind = event_kind::malloc, .context = 1, .time = 30, .address = 0x30, .size = 50},  // the peak
      {.kind = event_kind::free, .context = 5, .time = 40, .address = 0x10},
      {.kind = event_kind::malloc, .context = 3, .time = 50, .address = 0x40, .size = 100},  // no higher
      {.kind = event_kind::free, .time = 60, .address = 0x40},
  };
  const std::vector<context_figures> found = figures_of(events);
  EXPECT_EQ(found[1].allocations, 2U);
  EXPECT_EQ(found[1].bytes, 150U);
  EXPECT_EQ(found[1].peak_bytes, 150U);
  EXPECT_EQ(found[1].peak_objects, 2U);
  EXPECT_EQ(found[1].leaked_bytes, 50U);
  EXPECT_EQ(found[1].leaked_objects, 1U);
  EXPECT_EQ(found[1].temporaries, 0U);
  EXPECT_EQ(found[1].size_classes, 1ULL << size_class(100) | 1ULL << size_class(50));
  EXPECT_EQ(found[2].peak_objects, 1U);
  EXPECT_EQ(found[2].leaked_bytes, 7U);
  EXPECT_EQ(found[2].kind, event_kind::new_);
  EXPECT_EQ(found[3].peak_objects, 0U);
  EXPECT_EQ(found[3].leaked_objects, 0U);
  EXPECT_EQ(found[3].temporaries, 1U);
  EXPECT_EQ(found[3].first_time, 50U);
  EXPECT_EQ(found[5].first_time, 40U);
  EXPECT_EQ(found[5].allocations, 0U);
  EXPECT_EQ(found[4].first_time, UINT64_MAX);
}

TEST(context_totals, blocks_of_regions_do_not_count) {
  const event events[] = {{.kind = event_kind::region_allocate,
                           .context = 1,
                           .time = 5,
                           .address = 0x10,
                           .size = 9,
                           .region = 1}};
  EXPECT_EQ(figures_of(events)[1].allocations, 0U);
  EXPECT_EQ(figures_of(events)[1].leaked_bytes, 0U);
  EXPECT_EQ(figures_of(events)[1].first_time, 5U);
}

TEST(context_totals, a_block_that_was_reallocated_is_no_temporary) {
  const event events[] = {
      {.kind = event_kind::malloc, .context = 1, .address = 0x10, .size = 9},
      {.kind = event_kind::realloc, .context = 2, .address = 0x10, .size = 20, .old_address = 0x10},
      {.kind = event_kind::free, .address = 0x10},
  };
  EXPECT_EQ(figures_of(events)[1].temporaries, 0U);
  EXPECT_EQ(figures_of(events)[2].temporaries, 1U);
}

TEST(context_totals, agrees_with_sums_over_all_objects_of_random_journals) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<event> events;
    for (std::uint64_t n = 0; n < 300; ++n) {
      constexpr event_kind kinds[] = {event_kind::malloc, event_kind::malloc, event_kind::free,
                                      event_kind::realloc, event_kind::region_allocate};
      const event_kind kind = kinds[random() % 5];
      events.push_back({.kind = kind,
                        .thread = static_cast<std::uint32_t>(random() % 2),
                        .context = static_cast<std::uint32_t>(random() % 8),
                        .time = n,
                        .address = 16 * (1 + random() % 40),
                        .size = random() % 100,
                        .old_address = kind == event_kind::realloc ? 16 * (1 + random() % 40) : 0,
                        .region = kind == event_kind::region_allocate ? 1U : 0U});
    }
    const std::vector<object> objects = pair(events).ends;
    const std::uint64_t peak = peak_of(objects, events.size());
    std::vector<context_figures> wanted(8);
    for (const object& o : objects) {
      if (o.region != 0) continue;
      context_figures& of = wanted[o.context];
      ++of.allocations;
      of.bytes += o.size;
      const bool at_peak = o.allocation <= peak && o.free > peak;
      of.peak_bytes += at_peak ? o.size : 0;
      of.peak_objects += at_peak ? 1 : 0;
      of.leaked_bytes += o.free == no_event ? o.size : 0;
      of.leaked_objects += o.free == no_event ? 1 : 0;
      of.temporaries += journal::is_free(o.free_kind) && o.between == 0 ? 1 : 0;
    }
    const std::vector<context_figures> found = figures_of(events);
    for (std::size_t context = 0; context < 8; ++context) {
      EXPECT_EQ(found[context].allocations, wanted[context].allocations);
      EXPECT_EQ(found[context].bytes, wanted[context].bytes);
      EXPECT_EQ(found[context].peak_bytes, wanted[context].peak_bytes);
      EXPECT_EQ(found[context].peak_objects, wanted[context].peak_objects);
      EXPECT_EQ(found[context].leaked_bytes, wanted[context].leaked_bytes);
      EXPECT_EQ(found[context].leaked_objects, wanted[context].leaked_objects);
      EXPECT_EQ(found[context].temporaries, wanted[context].temporaries);
    }
  }
}

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
