#include "replay/trace/live_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "replay/trace/events.hpp"

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

}  // namespace
}  // namespace mallard::replay
