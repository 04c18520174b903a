#include "replay/trace/region_trace_builder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::region_events;

std::string text_of(const region_op& o) {
  const std::string region = std::to_string(o.region());
  switch (o.kind()) {
    case region_op_kind::create:
      return "create " + region + (o.parent() == no_region ? "" : " in " + std::to_string(o.parent()));
    case region_op_kind::allocate:
      return "allocate " + std::to_string(o.size()) + " in " + region + " as " + std::to_string(o.block());
    case region_op_kind::deallocate:
      return "free " + std::to_string(o.block()) + " in " + region;
    case region_op_kind::clear:
      return "clear " + region;
    case region_op_kind::destroy:
      return "destroy " + region;
    case region_op_kind::ended_by_clear:
      return "cleared with its parent: " + region;
    case region_op_kind::ended_by_destroy:
      return "ended with its parent: " + region;
  }
  return "?";
}

using lines = std::vector<std::string>;

lines ops_of(const trace& t) {
  lines result;
  for (const region_op& o : t.region_ops()) result.push_back(text_of(o));
  return result;
}

TEST(RegionTraceBuilder, EventsBecomeOpsOnSlots) {
  const trace t = region_events()
                      .create(0x10)
                      .allocate(0x10, 0x1000, 24)
                      .allocate(0x10, 0x2000, 40)
                      .free(0x10, 0x1000)
                      .allocate(0x10, 0x3000, 8)
                      .clear(0x10)
                      .allocate(0x10, 0x1000, 16)
                      .destroy(0x10)
                      .build();
  EXPECT_EQ(ops_of(t), (lines{"create 0", "allocate 24 in 0 as 0", "allocate 40 in 0 as 1", "free 0 in 0",
                              "allocate 8 in 0 as 0", "clear 0", "allocate 16 in 0 as 1", "destroy 0"}));
  const trace_facts& f = t.facts();
  EXPECT_EQ(f.of, subject::regions);
  EXPECT_EQ(f.operations(), 8u);
  EXPECT_EQ(f.allocations, 4u);
  EXPECT_EQ(f.deallocations, 1u);
  EXPECT_EQ(f.creations, 1u);
  EXPECT_EQ(f.clears, 1u);
  EXPECT_EQ(f.destructions, 1u);
  EXPECT_EQ(f.total_bytes, 88u);
  EXPECT_EQ(f.max_live_bytes, 64u);
  EXPECT_EQ(f.max_live_op, 2u);
  EXPECT_EQ(f.max_live_objects, 2u);
  EXPECT_EQ(f.slots, 2u);
  EXPECT_EQ(f.region_events, 8u);
}

TEST(RegionTraceBuilder, WhatEndsWithAnotherRegionComesBeforeItInnerOnesFirst) {
  const trace destroyed =
      region_events().create(1).create(2, 1).create(3, 2).allocate(3, 0x1000, 8).destroy(1).build();
  EXPECT_EQ(ops_of(destroyed), (lines{"create 0", "create 1 in 0", "create 2 in 1", "allocate 8 in 2 as 0",
                                      "ended with its parent: 2", "ended with its parent: 1", "destroy 0"}));
  EXPECT_EQ(destroyed.facts().operations(), 5u) << "what a program never says is no operation";

  const trace cleared = region_events().create(1).create(2, 1).create(3, 2).clear(1).destroy(1).build();
  EXPECT_EQ(ops_of(cleared), (lines{"create 0", "create 1 in 0", "create 2 in 1", "ended with its parent: 2",
                                    "cleared with its parent: 1", "clear 0", "destroy 0"}));
}

// Nothing happens between the two: only their events tell them apart.
TEST(RegionTraceBuilder, ARegionDestroyedBeforeAnotherIsClearedIsNotItsChild) {
  const trace t = region_events().create(1).create(2).destroy(2).clear(1).destroy(1).build();
  EXPECT_EQ(ops_of(t), (lines{"create 0", "create 1", "destroy 1", "clear 0", "destroy 0"}));
}

TEST(RegionTraceBuilder, AMovedRegionIsARootAndIsDestroyedWhereItEnded) {
  const trace t = region_events()
                      .create(1)
                      .create(2)
                      .create(3, 1)
                      .create(4, 3)
                      .create(3, 2)  // below the other one
                      .destroy(1)
                      .allocate(3, 0x1000, 8)
                      .clear(2)
                      .destroy(2)
                      .build();
  EXPECT_EQ(ops_of(t),
            (lines{"create 0", "create 1", "create 2", "create 3 in 2", "destroy 0", "allocate 8 in 2 as 0",
                   "ended with its parent: 3", "destroy 2", "clear 1", "destroy 1"}));
  EXPECT_EQ(t.facts().moved_regions, 1u);

  const trace stays = region_events().create(1).create(2, 1).create(2, 1).destroy(1).build();
  EXPECT_EQ(stays.facts().moved_regions, 0u) << "it was there already";
}

TEST(RegionTraceBuilder, AMoveOfARegionIntoOneInsideItIsLeftOutAndCounted) {
  const trace t = region_events()
                      .create(1)
                      .create(2, 1)
                      .create(1, 2)
                      .allocate(1, 0x1000, 8)
                      .destroy(2)
                      .destroy(1)
                      .build();
  EXPECT_EQ(ops_of(t),
            (lines{"create 0", "create 1 in 0", "allocate 8 in 0 as 0", "destroy 1", "destroy 0"}));
  EXPECT_EQ(t.facts().circular_moves, 1u);
  EXPECT_EQ(t.facts().moved_regions, 0u);
}

TEST(RegionTraceBuilder, WhatTheProgramLeftIsDestroyedAtTheEnd) {
  const trace t =
      region_events().create(1).create(2, 1).create(3).allocate(2, 0x1000, 8).allocate(3, 0x1000, 8).build();
  EXPECT_EQ(ops_of(t), (lines{"create 0", "create 1 in 0", "create 2", "allocate 8 in 1 as 0",
                              "allocate 8 in 2 as 1", "ended with its parent: 1", "destroy 2", "destroy 0"}));
  EXPECT_EQ(t.facts().never_ended_regions, 3u);
  EXPECT_EQ(t.facts().never_freed, 2u);
}

TEST(RegionTraceBuilder, BlocksOfMallocAndOfNoRegionAreLeftOut) {
  const trace t = region_events()
                      .add({.kind = journal::event_kind::malloc, .address = 0x1000, .size = 4096})
                      .create(1)
                      .allocate(1, 0x1000, 24)
                      .free(7, 0x1000)
                      .free(1, 0x9999)
                      .clear(7)
                      .allocate(1, 0, 24)
                      .add({.kind = journal::event_kind::free, .address = 0x1000})
                      .destroy(1)
                      .build();
  EXPECT_EQ(ops_of(t), (lines{"create 0", "allocate 24 in 0 as 0", "destroy 0"}));
  EXPECT_EQ(t.facts().max_live_bytes, 24u);
  EXPECT_EQ(t.facts().events, 9u);
}

TEST(RegionTraceBuilder, AnAddressThatComesBackHasBeenFreed) {
  const trace t =
      region_events().create(1).allocate(1, 0x1000, 24).allocate(1, 0x1000, 40).destroy(1).build();
  EXPECT_EQ(ops_of(t), (lines{"create 0", "allocate 24 in 0 as 0", "free 0 in 0", "allocate 40 in 0 as 0",
                              "destroy 0"}));
}

TEST(RegionTraceBuilder, AlignmentsAreKeptAndWhatIsImpossibleIsLeftOutAndCounted) {
  const trace t = region_events()
                      .create(1)
                      .allocate(1, 0x1000, 24, 64)
                      .allocate(1, 0x2000, 24, std::uint64_t{1} << 60)
                      .allocate(1, 0x3000, std::uint64_t{1} << 48)
                      .destroy(1)
                      .build();
  ASSERT_EQ(t.facts().allocations, 1u);
  EXPECT_EQ(t.region_ops()[1].align(), 64u);
  EXPECT_EQ(t.facts().max_align, 64u);
  EXPECT_EQ(t.facts().impossible, 2u);
}

// Random histories: whenever two blocks are alive together, the baseline's places do not overlap.
TEST(RegionTraceBuilder, PlacesOfLiveBlocksNeverOverlap) {
  std::mt19937_64 random(11);
  region_events history;
  std::uint64_t next = 0x1000;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t region = 1 + random() % 8;
    switch (random() % 16) {
      case 0:
        history.create(region, random() % 9);
        break;
      case 1:
        history.clear(region);
        break;
      case 2:
        history.destroy(region);
        break;
      case 3:
        history.free(region, next - 0x1000 * (1 + random() % 40));
        break;
      default:
        history.allocate(region, next, random() % 300, random() % 4 == 0 ? 64 : 0);
        next += 0x1000;
    }
  }
  const trace t = history.build();
  ASSERT_GT(t.facts().moved_regions, 0u);

  struct range {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t region;
  };
  std::map<std::uint32_t, range> in_slot;
  std::size_t allocations = 0;
  for (const region_op& o : t.region_ops()) {
    if (o.kind() == region_op_kind::allocate) {
      const std::uint64_t begin = t.places()[allocations++];
      const range fresh{begin, begin + o.size(), o.region()};
      ASSERT_EQ(begin % o.align(), 0u);
      ASSERT_LE(fresh.end, t.facts().places_bytes);
      for (const auto& [slot, other] : in_slot)
        ASSERT_TRUE(fresh.end <= other.begin || other.end <= fresh.begin || fresh.begin == fresh.end ||
                    other.begin == other.end);
      ASSERT_TRUE(in_slot.emplace(o.block(), fresh).second);
    } else if (o.kind() == region_op_kind::deallocate) {
      ASSERT_EQ(in_slot.at(o.block()).region, o.region());
      in_slot.erase(o.block());
    } else if (o.kind() != region_op_kind::create) {
      std::erase_if(in_slot, [&o](const auto& entry) { return entry.second.region == o.region(); });
    }
  }
  EXPECT_TRUE(in_slot.empty());
  EXPECT_EQ(allocations, t.facts().allocations);
}

}  // namespace
}  // namespace mallard::replay
