// The pairing against its rules in the plainest form, over random journals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "profile/naive_pairing.hpp"
#include "profile/object_log.hpp"
#include "profile/pairing.hpp"

namespace mallard::profile {
namespace {

using journal::event;
using journal::event_kind;

// Few addresses, regions and threads, so that everything that can happen to one happens.
std::vector<event> random_events(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t bound) { return random() % bound; };
  constexpr std::array<event_kind, 13> kinds = {
      event_kind::malloc,       event_kind::calloc,         event_kind::memalign,
      event_kind::realloc,      event_kind::reallocarray,   event_kind::free,
      event_kind::delete_,      event_kind::free,           event_kind::region_create,
      event_kind::region_clear, event_kind::region_destroy, event_kind::region_allocate,
      event_kind::region_free};
  std::vector<event> events;
  std::uint64_t time = 50;
  for (std::size_t i = 0; i < count; ++i) {
    time += below(200) == 0 ? 2'000'000'000 : below(40) - 5;
    event e{.kind = below(100) == 0 ? static_cast<event_kind>(below(256)) : kinds[below(kinds.size())],
            .thread = static_cast<std::uint32_t>(below(3)),
            .context = static_cast<std::uint32_t>(below(9)),
            .time = time,
            .address = 16 * below(9),
            .size = below(30) == 0 ? UINT64_MAX - below(9) : below(4) * 25,
            .old_address = 16 * below(9),
            .duration = below(8) == 0 ? below(90) : 0};
    if (is_region(e.kind)) e.region = below(6);
    if (e.kind == event_kind::region_create) e.parent = below(6);
    events.push_back(e);
  }
  return events;
}

bool agree(const pairs& one, const pairs& other) {
  const auto same_region = [](const region_instance& a, const region_instance& b) {
    return a.created == b.created && a.ended == b.ended && a.parent == b.parent && a.context == b.context &&
           a.clears == b.clears && a.objects == b.objects && a.bytes == b.bytes &&
           a.max_live_bytes == b.max_live_bytes;
  };
  return one.allocations == other.allocations && one.ends == other.ends && one.time == other.time &&
         std::ranges::equal(one.regions, other.regions, same_region) &&
         one.counts.events == other.counts.events && one.counts.by_kind == other.counts.by_kind &&
         one.counts.failed == other.counts.failed &&
         one.counts.unmatched_frees == other.counts.unmatched_frees &&
         one.counts.inversions == other.counts.inversions &&
         one.counts.impossible_in_regions == other.counts.impossible_in_regions &&
         one.counts.circular_moves == other.counts.circular_moves;
}

constexpr std::uint64_t runs = 300;
constexpr std::size_t events_of_a_run = 400;

TEST(pairing_model, agrees_with_the_plainest_reading_of_its_rules) {
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const std::vector<event> events = random_events(seed, events_of_a_run);
    const pairs expected = naive_pairing().pair(events);
    ASSERT_EQ(pair(events).ends, expected.ends) << "seed " << seed;
    ASSERT_TRUE(agree(pair(events), expected)) << "seed " << seed;
    ASSERT_TRUE(agree(pair(events, 1, 7), expected)) << "seed " << seed;
  }
}

TEST(pairing_model, agreement_would_not_survive_a_broken_rule) {
  std::size_t without_late_frees = 0;
  std::size_t oldest_first = 0;
  std::size_t event_lost = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    std::vector<event> events = random_events(seed, events_of_a_run);
    const pairs found = pair(events);
    naive_pairing broken;
    broken.frees_come_late = false;
    without_late_frees += agree(found, broken.pair(events)) ? 0 : 1;
    broken = {};
    broken.youngest_first = false;
    oldest_first += agree(found, broken.pair(events)) ? 0 : 1;
    events[events.size() / 2].kind = event_kind::none;
    event_lost += agree(found, naive_pairing().pair(events)) ? 0 : 1;
  }
  EXPECT_GT(without_late_frees, runs / 2);
  EXPECT_GT(oldest_first, runs / 2);
  EXPECT_EQ(event_lost, runs);
}

}  // namespace
}  // namespace mallard::profile
