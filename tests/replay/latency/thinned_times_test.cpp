#include "replay/latency/thinned_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

constexpr harness::operation_clock clock{.tsc = false, .ns_per_tick = 0.5, .quantum = 1, .overhead = 0};

// Blocks of 1 to 999 bytes, each freed at once.
trace pairs(std::uint64_t count) {
  events history;
  for (std::uint64_t i = 1; i <= count; ++i) history.malloc(i, i % 999 + 1).free(i);
  return history.build();
}

TEST(ThinnedTimes, FewTimesAreAllThere) {
  const trace t = events().malloc(1, 8).realloc(1, 1, 9).calloc(2, 30).free(1).free(2).build();
  const std::vector<std::uint32_t> ticks{10, 400, 0, 30, 40, 50};
  const thinned_times found = thin_out(t, ticks, clock);
  EXPECT_FALSE(found.grid);
  ASSERT_EQ(found.kept.size(), 5u) << "the second half of a reallocation is none";
  EXPECT_EQ(found.kept[1].kind, operation::reallocation);
  EXPECT_EQ(found.kept[1].ns, 200);
  EXPECT_EQ(found.kept[1].event, 1u);
  EXPECT_EQ(found.kept[2].size, 30u);
  EXPECT_EQ(found.kept[4].ns, 25);
}

TEST(ThinnedTimes, OfManyTheExtremesOfEachStretchAndCallAreThere) {
  const trace t = pairs(100'000);
  const std::size_t n = t.recorded_ops().size();
  std::mt19937 random(4);
  std::vector<std::uint32_t> ticks(n);
  for (std::uint32_t& one : ticks) one = 20 + static_cast<std::uint32_t>(random() >> 7 >> random() % 26);
  const thinned_times found = thin_out(t, ticks, clock);
  ASSERT_TRUE(found.grid);
  EXPECT_LE(found.kept.size(), thinned_times::most);
  EXPECT_GE(found.kept.size(), thinned_times::most / 8);
  EXPECT_TRUE(std::ranges::is_sorted(found.kept, {}, &located_operation::op));

  std::set<std::uint64_t> kept;
  for (const located_operation& o : found.kept) {
    EXPECT_TRUE(kept.insert(o.op).second) << o.op << " is there twice";
    EXPECT_EQ(o.ns, clock.ns(ticks[o.op]));
    EXPECT_EQ(o.size, t.ops()[o.op].size);
  }
  for (std::size_t stretch = 0; stretch < found.grid->stretches; ++stretch) {
    for (const op_kind kind : {op_kind::allocate, op_kind::deallocate}) {
      std::vector<std::size_t> of_stretch;
      for (std::size_t i = 0; i < n; ++i)
        if (i * found.grid->stretches / n == stretch && t.ops()[i].kind == kind) of_stretch.push_back(i);
      const auto by_time = [&](std::size_t i) { return ticks[i]; };
      EXPECT_TRUE(kept.contains(*std::ranges::max_element(of_stretch, {}, by_time))) << stretch;
      EXPECT_TRUE(kept.contains(*std::ranges::min_element(of_stretch, {}, by_time))) << stretch;
    }
  }
}

// One time twice the others is in a cell of its own, wherever it is.
TEST(ThinnedTimes, WhatStandsOutIsThere) {
  const trace t = pairs(20'000);
  std::vector<std::uint32_t> ticks(t.recorded_ops().size(), 100);
  for (const std::size_t slow : {7u, 19'999u, 39'999u}) ticks[slow] = 200;
  const thinned_times found = thin_out(t, ticks, clock);
  EXPECT_EQ(std::ranges::count(found.kept, 100.0, &located_operation::ns), 3);
  EXPECT_LE(found.kept.size(), thinned_times::most);
}

}  // namespace
}  // namespace mallard::replay
