#include "replay/trace/trace_builder.hpp"

#include <gtest/gtest.h>

#include <string>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using journal::event_kind;
using testing::events;

// Each op as a word: "+0:48" slot 0 gets 48 bytes, "*0:48" 48 zeros, "-0:48" it ends, "~0:48>96" it becomes
// 96 bytes.
std::string ops_of(const trace& t) {
  std::string text;
  const auto ops = t.ops();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string slot = std::to_string(ops[i].slot) + ":";
    const std::string size = std::to_string(ops[i].size);
    if (!text.empty()) text += ' ';
    switch (ops[i].kind) {
      case op_kind::allocate:
        text += "+" + slot + size;
        break;
      case op_kind::allocate_aligned:
        text += "+" + slot + size + "@" + std::to_string(ops[i].align());
        break;
      case op_kind::deallocate:
        text += "-" + slot + size;
        break;
      case op_kind::reallocate:
        EXPECT_EQ(ops[i + 1].kind, op_kind::resized_from);
        EXPECT_EQ(ops[i + 1].slot, ops[i].slot);
        text += "~" + slot + std::to_string(ops[i + 1].size) + ">" + size;
        ++i;
        break;
      case op_kind::resized_from:
        text += "?";
        break;
      case op_kind::allocate_zeroed:
        text += "*" + slot + size;
        break;
    }
  }
  return text;
}

TEST(TraceBuilder, EventsThatAreLostKeepTheirNumbers) {
  const testing::route_file file({0, 0, 0, 7, 0});
  const part_routes routes(file.path());
  trace_builder builder(false, &routes);
  events().malloc(1, 8).add_to(builder);
  events().malloc(2, 16).free(2).add_to(builder, 1e9, 3);
  const trace t = builder.finish();
  EXPECT_EQ(t.facts().events, 3u);
  EXPECT_EQ(t.facts().part.blocks, 1u);
  EXPECT_EQ(ops_of(t), "+0:8 +1:16 -1:16 -0:8");
}

TEST(TraceBuilder, FreesArePairedAndCarryTheSize) {
  const trace t = events().malloc(0x10, 48).malloc(0x20, 5).free(0x10).free(0x20).build();
  EXPECT_EQ(ops_of(t), "+0:48 +1:5 -0:48 -1:5");
  EXPECT_EQ(t.facts().events, 4u);
  EXPECT_EQ(t.facts().operations(), 4u);
  EXPECT_EQ(t.facts().slots, 2u);
  EXPECT_EQ(t.ops()[2].align(), 16u);
  EXPECT_EQ(t.ops()[3].align(), 4u);
}

TEST(TraceBuilder, ACallocStaysOne) {
  const trace t = events().malloc(1, 48).calloc(2, 48).free(2).calloc(3, 0).realloc(3, 3, 64).build();
  EXPECT_EQ(ops_of(t), "+0:48 *1:48 -1:48 *1:0 ~1:0>64 -0:48 -1:64");
  EXPECT_EQ(t.facts().allocations, 3u);
  EXPECT_EQ(t.facts().callocs, 2u);
  EXPECT_EQ(t.places().size(), 3u);
}

// The number of the event that each op but the second half of a reallocate stems from.
std::string events_of(const trace& t) {
  std::string text;
  std::size_t next_mark = 0;
  std::uint64_t event = 0;
  for (std::size_t i = 0; i < t.ops().size(); ++i) {
    if (t.ops()[i].kind == op_kind::resized_from) continue;
    if (next_mark < t.marks().size() && t.marks()[next_mark].op == i) event = t.marks()[next_mark++].event;
    text += std::to_string(event++) + " ";
  }
  EXPECT_EQ(next_mark, t.marks().size());
  return text;
}

TEST(TraceBuilder, EachOpIsOfAnEvent) {
  const trace plain = events().malloc(1, 8).realloc(1, 2, 16).malloc(3, 8).free(2).free(3).build();
  EXPECT_EQ(events_of(plain), "0 1 2 3 4 ");
  EXPECT_EQ(plain.marks().size(), 1u) << "nothing was left out or put in";

  events repaired;
  repaired.free(9).malloc(0, 8).malloc(1, 8);          // two events without an op
  repaired.malloc(1, 16);                              // two ops of one event: the block before ends first
  repaired.free(1).malloc(2, 8).free(1).malloc(3, 8);  // a free that has been made up for
  const trace t = repaired.build();
  EXPECT_EQ(ops_of(t), "+0:8 -0:8 +0:16 +1:8 -0:16 +0:8 -1:8 -0:8");
  EXPECT_EQ(events_of(t), "2 3 3 5 6 7 8 9 ") << "8 and 9 are beyond the journal: never freed";
  EXPECT_EQ(t.facts().events, 8u);

  trace_builder in_batches;
  events().free(7).malloc(1, 8).add_to(in_batches);
  events().free(7).malloc(2, 8).free(1).free(2).add_to(in_batches);
  EXPECT_EQ(events_of(in_batches.finish()), "1 3 4 5 ");
}

TEST(TraceBuilder, BlocksThatNoAddressSpaceHasRoomForAreLeftOutAndCounted) {
  const trace t = events().malloc(1, 48).malloc(2, std::uint64_t{1} << 62).free(2).build();
  EXPECT_EQ(ops_of(t), "+0:48 -0:48");
  EXPECT_EQ(t.facts().impossible, 1u);
  EXPECT_EQ(t.facts().max_live_bytes, 48u);
}

TEST(TraceBuilder, SlotsAreReusedLastInFirstOut) {
  const trace t = events()
                      .malloc(1, 1)
                      .malloc(2, 2)
                      .malloc(3, 3)
                      .free(1)
                      .free(3)
                      .malloc(4, 4)
                      .malloc(5, 5)
                      .free(2)
                      .free(4)
                      .free(5)
                      .build();
  EXPECT_EQ(ops_of(t), "+0:1 +1:2 +2:3 -0:1 -2:3 +2:4 +0:5 -1:2 -2:4 -0:5");
}

TEST(TraceBuilder, WhatIsNeverFreedIsFreedAtTheEndInOrderOfBirth) {
  const trace t = events().malloc(1, 1).malloc(2, 2).free(1).malloc(3, 3).build();
  EXPECT_EQ(ops_of(t), "+0:1 +1:2 -0:1 +0:3 -1:2 -0:3");
  EXPECT_EQ(t.facts().never_freed, 2u);
  EXPECT_EQ(t.facts().allocations, t.facts().deallocations);
}

TEST(TraceBuilder, TheMomentOfMostLiveBytesIsFound) {
  const trace t = events().malloc(1, 100).malloc(2, 50).free(1).malloc(3, 20).malloc(4, 30).build();
  EXPECT_EQ(t.facts().max_live_bytes, 150u);
  EXPECT_EQ(t.facts().max_live_op, 1u);
  EXPECT_EQ(t.facts().max_live_objects, 3u);
  EXPECT_EQ(t.facts().total_bytes, 200u);
}

TEST(TraceBuilder, ZeroSizesAreKept) {
  EXPECT_EQ(ops_of(events().malloc(1, 0).free(1).build()), "+0:0 -0:0");
}

TEST(TraceBuilder, FreesOfUnknownBlocksAndFailedAllocationsAreLeftOutAndCounted) {
  const trace t = events().free(0x99).malloc(0, 1000).malloc(1, 8).realloc(1, 0, 1 << 30).free(1).build();
  EXPECT_EQ(ops_of(t), "+0:8 -0:8");
  EXPECT_EQ(t.facts().unmatched_frees, 1u);
  EXPECT_EQ(t.facts().failed, 2u);
}

TEST(TraceBuilder, AnInversionEndsTheOldBlockAndItsLateFreeIsPassedOver) {
  const trace t = events()
                      .malloc(0x10, 8)
                      .on_thread(1)
                      .malloc(0x10, 16)  // thread 0's free of 0x10 came first, but is logged later
                      .on_thread(0)
                      .free(0x10)
                      .on_thread(1)
                      .malloc(0x20, 32)
                      .free(0x10)
                      .free(0x20)
                      .build();
  EXPECT_EQ(ops_of(t), "+0:8 -0:8 +0:16 +1:32 -0:16 -1:32");
  EXPECT_EQ(t.facts().inversions, 1u);
  EXPECT_EQ(t.facts().unmatched_frees, 0u);
  EXPECT_EQ(t.facts().threads, 2u);
}

TEST(TraceBuilder, InversionsOfOneAddressAddUp) {
  const trace t = events().malloc(1, 1).malloc(1, 2).malloc(1, 3).free(1).free(1).free(1).build();
  EXPECT_EQ(ops_of(t), "+0:1 -0:1 +0:2 -0:2 +0:3 -0:3");
  EXPECT_EQ(t.facts().inversions, 2u);
  EXPECT_EQ(t.facts().never_freed, 0u);
}

TEST(TraceBuilder, AFreeLongAfterAnInversionEndsTheBlockThatIsThere) {
  trace_builder builder;
  events().malloc(1, 1).malloc(1, 2).malloc(2, 3).free(1).malloc(1, 4).free(1).free(2).add_to(builder, 1);
  const trace t = builder.finish();
  EXPECT_EQ(ops_of(t), "+0:1 -0:1 +0:2 +1:3 -0:2 +0:4 -0:4 -1:3");
  EXPECT_EQ(t.facts().inversions, 1u);
}

TEST(TraceBuilder, ReallocationsKeepTheirSlotInPlaceOrMoved) {
  const trace t =
      events().malloc(1, 10).realloc(1, 1, 20).realloc(1, 2, 400).malloc(1, 7).free(2).free(1).build();
  EXPECT_EQ(ops_of(t), "+0:10 ~0:10>20 ~0:20>400 +1:7 -0:400 -1:7");
  EXPECT_EQ(t.facts().reallocations, 2u);
  EXPECT_EQ(t.facts().operations(), 6u);
  EXPECT_EQ(t.facts().max_live_bytes, 407u);
}

TEST(TraceBuilder, ReallocOfNothingAllocatesAndToNothingFrees) {
  const trace t = events().realloc(0, 1, 24).realloc(1, 0, 0).build();
  EXPECT_EQ(ops_of(t), "+0:24 -0:24");
  EXPECT_EQ(t.facts().reallocations, 0u);
}

TEST(TraceBuilder, AReallocOfAnUnknownBlockIsAnAllocation) {
  const trace t = events().realloc(0x99, 1, 24).free(1).build();
  EXPECT_EQ(ops_of(t), "+0:24 -0:24");
  EXPECT_EQ(t.facts().unmatched_frees, 1u);
}

TEST(TraceBuilder, AReallocToAnAddressStillInUseIsAnInversion) {
  const trace t = events().malloc(1, 8).malloc(2, 16).realloc(2, 1, 24).free(1).free(1).build();
  EXPECT_EQ(ops_of(t), "+0:8 +1:16 -0:8 ~1:16>24 -1:24");
  EXPECT_EQ(t.facts().inversions, 1u);
  EXPECT_EQ(t.facts().unmatched_frees, 0u);
}

TEST(TraceBuilder, OnlyAlignmentBeyondWhatMallocPromisesNeedsAnotherEntryPoint) {
  const trace t =
      events().memalign(1, 100, 8).memalign(2, 100, 16).memalign(3, 100, 64).memalign(4, 4, 16).build();
  EXPECT_EQ(ops_of(t).substr(0, 35), "+0:100 +1:100 +2:100@64 +3:4@16 -0:");
  EXPECT_EQ(t.ops()[1].align(), 16u);
  EXPECT_EQ(t.facts().max_align, 64u);
}

TEST(TraceBuilder, RegionEventsAreCountedAndLeftOut) {
  const trace t =
      events().add(event_kind::region_create, 0).add(event_kind::region_allocate, 5, 10).malloc(1, 1).build();
  EXPECT_EQ(ops_of(t), "+0:1 -0:1");
  EXPECT_EQ(t.facts().region_events, 2u);
}

TEST(TraceBuilder, AnEmptyJournalIsAnEmptyTrace) {
  const trace t = events().build();
  EXPECT_EQ(t.facts().operations(), 0u);
  EXPECT_TRUE(t.ops().empty());
}

// More ops than the first room, in several batches.
TEST(TraceBuilder, ManyBatchesMakeOneTrace) {
  trace_builder builder;
  for (std::uint64_t round = 0; round < 3; ++round) {
    events history;
    for (std::uint64_t i = 1; i <= 50'000; ++i) history.malloc(round << 32 | i * 16, i);
    history.add_to(builder);
  }
  const trace t = builder.finish();
  EXPECT_EQ(t.facts().allocations, 150'000u);
  EXPECT_EQ(t.facts().ops, 300'000u);
  EXPECT_EQ(t.ops()[149'999].size, 50'000u);
  EXPECT_EQ(t.ops()[299'999].size, 50'000u);
  EXPECT_EQ(t.facts().slots, 150'000u);
}

}  // namespace
}  // namespace mallard::replay
