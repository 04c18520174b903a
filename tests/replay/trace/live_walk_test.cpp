#include "replay/trace/live_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "replay/trace/events.hpp"
#include "replay/trace/region_blocks.hpp"

namespace mallard::replay {
namespace {

using testing::events;
using testing::region_events;

// Live bytes after each operation of a trace.
std::vector<std::uint64_t> live_in(const trace& t) {
  live_walk walk(t);
  std::vector<std::uint64_t> live;
  for (std::size_t i = 0; i < t.facts().ops; ++i)
    if (walk.next()) live.push_back(walk.bytes());
  EXPECT_EQ(walk.operations(), t.facts().operations());
  EXPECT_EQ(walk.operations(), live.size());
  EXPECT_EQ(walk.regions(), 0u) << "a pass leaves nothing alive";
  EXPECT_EQ(*std::ranges::max_element(live), t.facts().max_live_bytes);
  return live;
}

TEST(LiveWalk, CountsWhatIsAliveAfterEachOperation) {
  const trace t =
      events().malloc(1, 48).memalign(2, 100, 64).free(2).realloc(1, 3, 200).realloc(3, 3, 7).build();
  EXPECT_EQ(live_in(t), (std::vector<std::uint64_t>{48, 148, 48, 200, 7, 0}));
}

// The inner region ends with the outer one, which is one operation.
TEST(LiveWalk, EndsWhatIsInARegionWithIt) {
  const trace t = region_events()
                      .create(1)
                      .allocate(1, 0x1000, 24)
                      .create(2, 1)
                      .allocate(2, 0x2000, 100)
                      .allocate(2, 0x3000, 50)
                      .free(2, 0x2000)
                      .clear(1)
                      .allocate(1, 0x1000, 8)
                      .destroy(1)
                      .build();
  EXPECT_EQ(live_in(t), (std::vector<std::uint64_t>{0, 24, 24, 124, 174, 74, 0, 8, 0}));
}

TEST(LiveWalk, CountsTheRegionsAlive) {
  const trace t = region_events().create(1).create(2, 1).create(3).destroy(1).allocate(3, 0x1000, 8).build();
  live_walk walk(t);
  std::vector<std::uint64_t> regions;
  for (std::size_t i = 0; i < t.facts().recorded_ops; ++i)
    if (walk.next()) regions.push_back(walk.regions());
  EXPECT_EQ(regions, (std::vector<std::uint64_t>{1, 2, 3, 1, 1}));
}

using counts = std::map<std::size_t, std::size_t>;

counts counts_of(const trace& t) {
  const live_sizes alive(t);
  counts result;
  std::size_t together = 0;
  for (const harness::size_weight& s : alive.sizes()) {
    EXPECT_EQ(result.count(s.size), 0u) << "each size once";
    result[s.size] = s.weight;
    together += s.weight;
  }
  EXPECT_EQ(alive.count(), together);
  return result;
}

TEST(LiveSizes, AreThoseAtTheMomentOfMostLiveBytes) {
  const trace t = events()
                      .malloc(1, 48)
                      .malloc(2, 500)
                      .malloc(3, 48)
                      .free(1)
                      .malloc(4, 48)
                      .malloc(5, 1000)  // here
                      .free(2)
                      .malloc(6, 16)
                      .malloc(7, 16)
                      .build();
  EXPECT_EQ(counts_of(t), (counts{{48, 2}, {500, 1}, {1000, 1}}));
}

TEST(LiveSizes, AReallocatedBlockHasItsNewSize) {
  const trace grown = events().malloc(1, 10).malloc(2, 10).realloc(1, 3, 4000).build();
  EXPECT_EQ(counts_of(grown), (counts{{10, 1}, {4000, 1}}));
}

TEST(LiveSizes, BlocksWithoutBytesCount) {
  EXPECT_EQ(counts_of(events().malloc(1, 0).malloc(2, 0).malloc(3, 8).build()), (counts{{0, 2}, {8, 1}}));
  EXPECT_EQ(counts_of(events().malloc(1, 0).free(1).build()), (counts{{0, 1}}));
}

TEST(LiveSizes, NothingIsAliveInAnEmptyTrace) { EXPECT_EQ(counts_of(events().build()), counts{}); }

using slots = std::vector<std::uint32_t>;

slots end_all(region_blocks& alive, std::uint32_t region) {
  slots ended;
  EXPECT_TRUE(alive.end_all(region, [&](std::uint32_t slot, const region_blocks::block&) {
    ended.push_back(slot);
    return true;
  }));
  return ended;
}

TEST(RegionBlocks, AreListedByRegionYoungestFirst) {
  region_blocks alive(6, 2);
  for (const std::uint32_t slot : {3u, 0u, 5u, 1u})
    alive.add({region_op_kind::allocate, 0, slot, 8, 3}, nullptr, 1);
  alive.add({region_op_kind::allocate, 1, 2, 8, 3}, nullptr, 1);
  alive.remove(0);  // in the middle
  alive.remove(1);  // the youngest
  EXPECT_EQ(end_all(alive, 0), (slots{5, 3}));
  EXPECT_EQ(end_all(alive, 0), slots{});
  EXPECT_EQ(end_all(alive, 1), slots{2});

  alive.add({region_op_kind::allocate, 1, 3, 8, 3}, nullptr, 1);
  EXPECT_EQ(end_all(alive, 1), slots{3}) << "a slot of another region before";
}

TEST(RegionBlocks, StopWhereAskedTo) {
  region_blocks alive(2, 1);
  alive.add({region_op_kind::allocate, 0, 0, 8, 3}, nullptr, 1);
  alive.add({region_op_kind::allocate, 0, 1, 8, 3}, nullptr, 1);
  EXPECT_FALSE(alive.end_all(0, [](std::uint32_t slot, const region_blocks::block&) { return slot != 1; }));
  EXPECT_EQ(end_all(alive, 0), (slots{1, 0})) << "the one that stopped it has not ended";
}

}  // namespace
}  // namespace mallard::replay
