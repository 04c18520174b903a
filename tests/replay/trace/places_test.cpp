#include "replay/trace/places.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

TEST(Places, AFreedPlaceIsTakenAgainByTheNextOfItsClass) {
  const trace t = events().malloc(1, 40).malloc(2, 40).free(1).malloc(3, 33).free(3).free(2).build();
  ASSERT_EQ(t.places().size(), 3u);
  EXPECT_EQ(t.places()[2], t.places()[0]);
  EXPECT_NE(t.places()[1], t.places()[0]);
  EXPECT_EQ(t.facts().places_bytes, 96u);
}

TEST(Places, AGrowingObjectHasRoomForItsLargestSize) {
  const trace t = events().malloc(1, 10).malloc(2, 10).realloc(1, 3, 500).free(2).free(3).build();
  EXPECT_GE(t.places()[1], t.places()[0] + 500);
}

// Random histories: whenever two objects are alive together, their places do not overlap.
TEST(Places, LiveObjectsNeverOverlapAndAreAlignedAsAsked) {
  std::mt19937_64 random(7);
  events history;
  std::vector<std::uint64_t> alive;
  std::uint64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t what = random() % 8;
    if (what < 4 || alive.empty()) {
      const std::uint64_t size = random() % (std::uint64_t{1} << (1 + random() % 16));
      const std::uint64_t align = what == 0 ? std::uint64_t{32} << random() % 8 : 0;
      history.memalign(next, size, align);
      alive.push_back(next++);
      continue;
    }
    std::swap(alive[random() % alive.size()], alive.back());
    if (what == 4) {
      history.realloc(alive.back(), next, random() % 3000);
      alive.back() = next++;
    } else {
      history.free(alive.back());
      alive.pop_back();
    }
  }
  const trace t = history.build();

  struct object {
    std::uint64_t place;
    std::uint64_t size;
  };
  std::map<std::uint32_t, object> in_slot;
  std::map<std::uint64_t, std::uint64_t> ranges;  // begin -> end of what is alive
  std::size_t allocations = 0;
  const auto enter = [&](std::uint32_t slot, object o) {
    in_slot[slot] = o;
    if (o.size == 0) return;
    const auto after = ranges.lower_bound(o.place);
    ASSERT_TRUE(after == ranges.end() || o.place + o.size <= after->first);
    ASSERT_TRUE(after == ranges.begin() || std::prev(after)->second <= o.place);
    ranges[o.place] = o.place + o.size;
  };
  for (const op& o : t.ops()) {
    ASSERT_EQ(o.kind == op_kind::allocate || o.kind == op_kind::allocate_aligned
                  ? t.places()[allocations] % o.align()
                  : 0,
              0u);
    if (o.kind == op_kind::allocate || o.kind == op_kind::allocate_aligned)
      enter(o.slot, {t.places()[allocations++], o.size});
    if (o.kind == op_kind::deallocate || o.kind == op_kind::reallocate) {
      const object gone = in_slot[o.slot];
      if (gone.size != 0) ranges.erase(gone.place);
      if (o.kind == op_kind::reallocate) enter(o.slot, {gone.place, o.size});
    }
    ASSERT_TRUE(ranges.empty() || std::prev(ranges.end())->second <= t.facts().places_bytes);
  }
}

}  // namespace
}  // namespace mallard::replay
