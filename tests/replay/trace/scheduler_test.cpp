#include "replay/trace/scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

trace scheduled(const events& history, std::uint64_t window = default_window) {
  return history.schedule(window);
}

// The steps of the n-th thread, without the one behind its last.
std::span<const thread_step> steps_of(const trace& t, std::size_t n) {
  const thread_part& part = t.threads()[n];
  return t.steps().subspan(part.first_step, part.steps);
}

TEST(Scheduler, EachThreadHasItsOpsInTheRecordedOrder) {
  const trace t =
      scheduled(events().malloc(1, 16).on_thread(1).malloc(2, 32).on_thread(0).free(1).on_thread(1).free(2));
  ASSERT_EQ(t.facts().threads_replayed, 2U);
  EXPECT_EQ(t.facts().threads_at_once, 2U);
  const auto first = steps_of(t, 0);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].order, 0U);
  EXPECT_EQ(first[0].what.size, 16U);
  EXPECT_EQ(first[1].order, 2U);
  const auto second = steps_of(t, 1);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].order, 1U);
  EXPECT_EQ(second[1].order, 3U);
}

TEST(Scheduler, AFreeOnAnotherThreadWaitsForItsAllocation) {
  const trace t = scheduled(events().malloc(1, 16).malloc(2, 16).on_thread(1).free(1).on_thread(0).free(2));
  const thread_step& remote = steps_of(t, 1)[0];
  EXPECT_EQ(remote.after, 0U);
  EXPECT_EQ(remote.after_lane, t.threads()[0].lane);
  EXPECT_EQ(steps_of(t, 0)[2].after, no_step) << "its own block";
  EXPECT_EQ(t.facts().remote_frees, 1U);
}

TEST(Scheduler, AReallocationWaitsForTheOneBeforeIt) {
  const trace t = scheduled(
      events().malloc(1, 16).on_thread(1).realloc(1, 2, 32).on_thread(2).realloc(2, 3, 64).on_thread(0).free(
          3));
  EXPECT_EQ(steps_of(t, 1)[0].after, 0U);
  EXPECT_EQ(steps_of(t, 2)[0].after, steps_of(t, 1)[0].order);
  const auto main = steps_of(t, 0);
  EXPECT_EQ(main.back().after, steps_of(t, 2)[0].order);
  EXPECT_EQ(main.back().what.slot, steps_of(t, 2)[0].what.slot);
  EXPECT_NE(steps_of(t, 1)[0].what.slot, main[0].what.slot) << "a slot is written once";
  EXPECT_EQ(steps_of(t, 1)[1].what.slot, main[0].what.slot);
}

TEST(Scheduler, ThreadsThatDoNotOverlapShareALane) {
  const trace t = scheduled(events()
                                .malloc(9, 8)
                                .on_thread(1)
                                .malloc(1, 8)
                                .free(1)
                                .on_thread(2)
                                .malloc(2, 8)
                                .free(2)
                                .on_thread(0)
                                .free(9));
  EXPECT_EQ(t.facts().threads_replayed, 3U);
  EXPECT_EQ(t.facts().threads_at_once, 2U);
  EXPECT_EQ(t.threads()[1].lane, t.threads()[2].lane);
  const thread_part& second = t.threads()[1];
  EXPECT_EQ(t.steps()[second.first_step + second.steps].order, steps_of(t, 2)[0].order) << "the lane goes on";
}

TEST(Scheduler, NoOpIsMoreThanTheWindowAhead) {
  events history;
  for (std::uint64_t i = 0; i < 100; ++i) history.on_thread(i % 2).malloc(i + 1, 1);
  history.on_thread(2).malloc(1000, 1 << 20);  // so large that bytes hold nothing back
  const trace t = scheduled(history, 10);
  for (const thread_step& s : steps_of(t, 0)) {
    if (s.order < 10 || s.order >= 100) continue;
    EXPECT_EQ(s.all_before, s.order - 10);
  }
  EXPECT_EQ(steps_of(t, 0)[0].all_before, 0U);
}

// A lane that only allocates may be ahead by a hundredth of max live; one that frees what it allocates is not
// held back by what it has allocated meanwhile.
TEST(Scheduler, AllocationsAheadAreAHundredthOfMaxLive) {
  events history;
  for (std::uint64_t i = 0; i < 10'000; ++i) history.on_thread(i % 2).malloc(i + 1, 100);
  const trace grows = scheduled(history);
  const thread_step& late = steps_of(grows, 0)[4000];
  EXPECT_EQ(late.order, 8000U);
  EXPECT_EQ(late.all_before, 7901U) << "10,000 bytes of a million: a hundred blocks";

  events churn;
  churn.malloc(1, 100'000);
  for (std::uint64_t i = 0; i < 1000; ++i) churn.on_thread(i % 2).malloc(2 + i % 2, 100).free(2 + i % 2);
  churn.on_thread(0).free(1);
  const trace steady = scheduled(churn);
  for (const thread_step& s : steps_of(steady, 1)) EXPECT_LE(s.all_before, 1U);
}

TEST(Scheduler, FreesAheadAreAHundredthOfMaxLive) {
  events history;
  for (std::uint64_t i = 0; i < 10'000; ++i) history.on_thread(i % 2).malloc(i + 1, 100);
  for (std::uint64_t i = 0; i < 10'000; ++i) history.on_thread(i % 2).free(i + 1);
  const trace t = scheduled(history);
  const thread_step& late = steps_of(t, 0)[9000];
  EXPECT_EQ(late.order, 18'000U);
  EXPECT_EQ(late.all_before, 17'901U) << "10,000 bytes of a million: a hundred blocks";
}

// Where little is alive, a hundredth of it is less than a block: each lane may be a few blocks ahead.
TEST(Scheduler, LittleMemoryAliveLetsThreadsRun) {
  events pairs;
  for (std::uint64_t i = 0; i < 1000; ++i) pairs.on_thread(i % 4).malloc(1 + i % 4, 64).free(1 + i % 4);
  const trace t = scheduled(pairs);
  for (const thread_step& s : steps_of(t, 2)) EXPECT_EQ(s.all_before, 0U);
}

// A few of these blocks are all that is alive: a lane that is ahead by one would make a different program of
// it.
TEST(Scheduler, LargeBlocksComeInTheRecordedOrder) {
  events pairs;
  for (std::uint64_t i = 0; i < 100; ++i) pairs.on_thread(i % 4).malloc(1 + i % 4, 1 << 20).free(1 + i % 4);
  const trace t = scheduled(pairs);
  for (const thread_step& s : steps_of(t, 2).subspan(1)) EXPECT_EQ(s.all_before, s.order);
}

// A lane that still reads a slot when the op that takes it again may begin would read another's block. A
// lane knows what any of its steps has waited for.
TEST(Scheduler, ASlotIsTakenAgainOnlyWhenItsReaderIsDone) {
  const trace t = scheduled(testing::random_history(4, 3000, 7), 50);
  struct use {
    std::uint32_t order;
    std::uint32_t slot;
    bool takes;
    std::uint32_t all_before;
    bool with_the_one_before;
  };
  std::vector<use> uses;
  std::vector<std::uint32_t> done_below(t.facts().threads_at_once);
  for (std::size_t n = 0; n < t.threads().size(); ++n)
    for (const thread_step& s : steps_of(t, n)) {
      std::uint32_t& known = done_below[t.threads()[n].lane];
      known = std::max(known, s.all_before);
      uses.push_back({s.order, s.what.slot,
                      s.what.kind != op_kind::deallocate && s.what.kind != op_kind::resized_from, known,
                      s.what.kind == op_kind::resized_from});
    }
  std::ranges::sort(uses, {}, &use::order);
  std::vector<std::int64_t> read_at(t.facts().slots, -1);
  std::vector<bool> taken(t.facts().slots);
  std::size_t again = 0;
  for (const use& u : uses) {
    if (u.takes) {
      ASSERT_FALSE(taken[u.slot]) << u.order;
      ASSERT_LT(read_at[u.slot], static_cast<std::int64_t>(u.all_before)) << u.order;
      again += read_at[u.slot] >= 0 ? 1 : 0;
    } else {
      ASSERT_TRUE(taken[u.slot]) << u.order;
      read_at[u.slot] = u.order - (u.with_the_one_before ? 1 : 0);
    }
    taken[u.slot] = u.takes;
  }
  EXPECT_GT(again, 100U) << "slots are taken again";
}

TEST(Scheduler, WhatThreadsLeaveBehindIsFreedByThemOrByTheLast) {
  const trace t = scheduled(events().malloc(1, 8).on_thread(1).malloc(2, 8).on_thread(0).malloc(3, 8));
  ASSERT_EQ(t.facts().never_freed, 3U);
  EXPECT_EQ(steps_of(t, 1).size(), 1U) << "thread 1 has ended";
  EXPECT_EQ(steps_of(t, 0).size(), 5U);
  EXPECT_EQ(t.facts().remote_frees, 0U) << "the program freed nothing";
}

TEST(Scheduler, PlacesOfLanesAreApartAndOfThreadsInTheirOrder) {
  const trace t = scheduled(testing::random_history(3, 2000, 3));
  std::set<std::uint64_t> of_first;
  std::set<std::uint64_t> of_second;
  for (std::size_t p = t.threads()[0].first_place; p < t.threads()[1].first_place; ++p)
    of_first.insert(t.places()[p] / 4096);
  for (std::size_t p = t.threads()[1].first_place; p < t.threads()[2].first_place; ++p)
    of_second.insert(t.places()[p] / 4096);
  for (const std::uint64_t page : of_first) EXPECT_FALSE(of_second.contains(page));
}

// An address that comes back before its free was seen: the free is the thread's that it comes from.
TEST(Scheduler, AFreeThatCameLateIsItsThreads) {
  const trace t =
      scheduled(events().malloc(1, 8).on_thread(1).malloc(1, 8).on_thread(2).free(1).on_thread(1).free(1));
  ASSERT_EQ(t.facts().inversions, 1U);
  ASSERT_EQ(t.facts().threads_replayed, 3U);
  EXPECT_EQ(t.facts().remote_frees, 1U);
  ASSERT_EQ(steps_of(t, 2).size(), 1U) << "of the thread whose free it was";
  EXPECT_EQ(steps_of(t, 2)[0].what.kind, op_kind::deallocate);
  EXPECT_EQ(steps_of(t, 2)[0].order, 1U) << "before the address came back";
  EXPECT_EQ(steps_of(t, 1).size(), 2U);
}

}  // namespace
}  // namespace mallard::replay
