#include "replay/trace/live_sizes.hpp"

#include <gtest/gtest.h>

#include <map>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;
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

}  // namespace
}  // namespace mallard::replay
