#include "replay/latency/operation_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "harness/mapping.hpp"
#include "replay/latency/located_operation.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

// A tick of half a nanosecond, and ten of them for an empty pair of readings.
constexpr harness::operation_clock clock{.tsc = false, .ns_per_tick = 0.5, .quantum = 1, .overhead = 10};

// A log in memory of its own.
struct memory_log : operation_log {
  explicit memory_log(const trace& t)
      : memory_log(t, harness::scratch(bytes_for(t.ops().size()), harness::fill::before_use)) {}
  memory_log(const trace& t, harness::scratch room)
      : operation_log(room.data(), t.recorded_ops(), clock), memory(std::move(room)) {
    begin();
  }
  harness::scratch memory;
};

std::vector<double> values(const percentiles& p) { return {p.p50, p.p90, p.p99, p.p999, p.p9999, p.max}; }

// The least is there, the median, the quartile above it, and the longest, which is the last.
TEST(OperationLog, TheTailHasTheWholeDistribution) {
  events history;
  for (std::uint64_t i = 1; i <= 1000; ++i) history.malloc(i, 8);
  const trace t = history.build();
  memory_log log(t);
  for (std::size_t i = 0; i < 1000; ++i) log.add(i, 10 + (i * 7 % 1000) / 10);
  const percentiles found = log.take()[operation::allocation].raw;
  const auto ticks = [&](std::size_t k) { return found.tail.at(k) / clock.ns_per_tick; };
  EXPECT_EQ(ticks(0), 0);
  EXPECT_EQ(ticks(4), 49) << "half of them do not exceed it";
  EXPECT_EQ(ticks(8), 74);
  EXPECT_EQ(ticks(12), 87);
  EXPECT_EQ(found.tail_count, 41u) << "2^(40 / 4) is the first power above 1000";
  EXPECT_EQ(found.tail[40], found.max);
  EXPECT_EQ(found.min, found.tail[0]);
  EXPECT_EQ(found.p25, 24 * clock.ns_per_tick);
  EXPECT_EQ(found.p75, found.tail[8]);
  EXPECT_TRUE(std::ranges::is_sorted(std::span(found.tail).first(found.tail_count)));
}

TEST(OperationLog, TheTailOfOneIsThatOne) {
  const trace t = events().malloc(1, 8).build();
  memory_log log(t);
  log.add(0, 30);
  const percentiles found = log.take()[operation::allocation].raw;
  ASSERT_EQ(found.tail_count, 2u);
  EXPECT_EQ(found.tail[0], 10);
  EXPECT_EQ(found.tail[1], 10);
}

TEST(OperationLog, TimesAreNetNanosecondsOfEachKindApart) {
  const trace t = events().malloc(1, 8).memalign(2, 8, 64).calloc(3, 8).realloc(1, 1, 9).free(3).build();
  memory_log log(t);
  ASSERT_EQ(t.ops()[3].kind, op_kind::reallocate);
  log.add(0, 30);
  log.add(1, 50);
  log.add(2, 110);
  log.add(3, 210);
  log.add(5, 9);  // less than an empty pair
  const latencies found = log.take();
  EXPECT_EQ(values(found[operation::allocation].raw), (std::vector<double>{10, 20, 20, 20, 20, 20}));
  EXPECT_EQ(found[operation::calloc].raw.max, 50);
  EXPECT_EQ(found[operation::reallocation].raw.p50, 100);
  EXPECT_EQ(found[operation::deallocation].raw.max, 0);
  EXPECT_EQ(found[operation::allocation].count, 2u);
  EXPECT_EQ(found[operation::reallocation].count, 1u) << "its second half is no operation";
  EXPECT_EQ(found[operation::calloc].minimum.max, 50);
}

TEST(OperationLog, OfEachOperationTheLowestTimeCounts) {
  const trace t = events().malloc(1, 8).malloc(2, 8).free(1).free(2).build();
  memory_log log(t);
  for (std::size_t i = 0; i < 4; ++i) log.add_cold(i, 12);
  for (const std::uint64_t disturbed : {0u, 1u, 2u})
    for (std::size_t i = 0; i < 4; ++i) log.add(i, i == disturbed ? 100'000 : 20 + 2 * i);
  const latencies found = log.take();
  EXPECT_EQ(found[operation::allocation].cold.max, 1) << "which is not among the others";
  EXPECT_EQ(found[operation::allocation].raw.max, 49'995);
  EXPECT_EQ(found[operation::allocation].minimum.max, 6);
  EXPECT_EQ(found[operation::allocation].minimum.p50, 5);
  ASSERT_EQ(found.worst_count, 4u);
  EXPECT_EQ(found.worst[0].op, 3u);
  EXPECT_EQ(found.worst[0].ns, 8);
  EXPECT_EQ(found.worst[3].op, 0u);
}

// In the order of the trace, without those of no measurable time, and a reallocation once.
TEST(OperationLog, TheSlowestSoFarAreThoseWithTheLongestLowestTimes) {
  events history;
  for (std::uint64_t i = 1; i <= 100; ++i) history.malloc(i, 8);
  history.realloc(1, 1, 9);
  const trace t = history.build();
  memory_log log(t);
  std::array<std::uint64_t, 4> room{};
  for (std::size_t i = 0; i < 101; ++i) log.add(i, 10);
  EXPECT_TRUE(log.slowest(room).empty());
  memory_log slow(t);
  for (std::size_t i = 0; i < 100; ++i) slow.add(i, 100 + i * 37 % 100);
  slow.add(100, 1000);
  slow.add_to_lowest(27, 90);  // 199 before
  const std::span<const std::uint64_t> found = slow.slowest(room);
  EXPECT_EQ(std::vector(found.begin(), found.end()), (std::vector<std::uint64_t>{8, 54, 81, 100}));
  EXPECT_EQ(slow.take()[operation::allocation].raw.max, 94.5) << "a further time is none of a pass";
}

// One worker after another adds to the same memory.
TEST(OperationLog, WhatOthersAddedStays) {
  const trace t = events().malloc(1, 8).malloc(2, 8).build();
  memory_log first(t);
  for (std::size_t i = 0; i < 2; ++i) first.add(i, 110 - 20 * i);
  operation_log second(first.memory.data(), t.recorded_ops(), clock);
  for (std::size_t i = 0; i < 2; ++i) second.add(i, 90 + 20 * i);
  const latencies found = second.take();
  EXPECT_EQ(found[operation::allocation].raw.max, 50);
  EXPECT_EQ(found[operation::allocation].minimum.max, 40);
}

TEST(OperationLog, TheTenWorstAreInOrderAndEqualsByTheirPlace) {
  events history;
  for (std::uint64_t i = 1; i <= 1000; ++i) history.malloc(i, 8);
  const trace t = history.build();
  memory_log log(t);
  for (std::size_t i = 0; i < 1000; ++i) log.add(i, i % 100 == 7 ? 10'000 + i : 10 + i / 999);
  latencies found = log.take();
  ASSERT_EQ(found.worst_count, 10u);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(found.worst[i].op, 907 - 100 * i);

  log.begin();
  for (std::size_t i = 0; i < 1000; ++i) log.add(i, i % 200 == 0 ? 11 : 10);
  found = log.take();
  ASSERT_EQ(found.worst_count, 5u) << "what took no time is none of them";
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(found.worst[i].op, 200 * i);
}

TEST(OperationLog, TheLowestNeverExceedWhatCame) {
  events history;
  for (std::uint64_t i = 1; i <= 777; ++i) history.malloc(i, 8);
  for (std::uint64_t i = 1; i <= 333; ++i) history.free(i);
  const trace t = history.build();
  std::mt19937_64 random(3);
  for (int passes : {1, 2, 7}) {
    memory_log log(t);
    for (int pass = 0; pass < passes; ++pass)
      for (std::size_t i = 0; i < t.recorded_ops().size(); ++i)
        log.add(i, 10 + (random() >> 20 >> random() % 44));
    const latencies found = log.take();
    for (const operation kind : {operation::allocation, operation::deallocation}) {
      const std::vector<double> raw = values(found[kind].raw);
      const std::vector<double> lowest = values(found[kind].minimum);
      for (std::size_t p = 0; p < raw.size(); ++p) EXPECT_LE(lowest[p], raw[p]);
      EXPECT_EQ(lowest == raw, passes == 1);
    }
  }
}

TEST(OperationLog, ATimeTooLongForAWordIsTheLongest) {
  const trace t = events().malloc(1, 8).build();
  memory_log log(t);
  log.add(0, std::uint64_t{1} << 40);
  const latencies found = log.take();
  EXPECT_EQ(found[operation::allocation].minimum.max, 0.5 * 0xffff'ffff);
}

TEST(LocatedOperation, SaysWhichEventItIsAndWhatWasAlive) {
  const trace t = events()
                      .free(9)         // 0: no operation
                      .malloc(1, 100)  // 1
                      .calloc(2, 50)   // 2
                      .malloc(0, 8)    // 3: failed
                      .realloc(1, 3, 300)
                      .free(2)
                      .memalign(4, 64, 64)
                      .free(3)
                      .build();
  ASSERT_EQ(t.ops()[2].kind, op_kind::reallocate);
  const std::vector<slow_operation> slow{{.op = 6, .ns = 9, .faults = 4},
                                         {.op = 2, .ns = 8},
                                         {.op = 1, .ns = 7},
                                         {.op = 5, .ns = 6},
                                         {.op = 4, .ns = 5}};
  const std::vector<located_operation> found = locate(t, slow);
  ASSERT_EQ(found.size(), 5u);

  EXPECT_EQ(found[0].op, 6u) << "the order is the caller's";
  EXPECT_EQ(found[0].ns, 9);
  EXPECT_EQ(found[0].faults, 4u);
  EXPECT_EQ(found[0].kind, operation::deallocation);
  EXPECT_EQ(found[0].event, 7u);
  EXPECT_EQ(found[0].size, 300u);
  EXPECT_EQ(found[0].live_blocks, 2u) << "it is alive when its free begins";
  EXPECT_EQ(found[0].live_bytes, 364u);

  EXPECT_EQ(found[1].kind, operation::reallocation);
  EXPECT_EQ(found[1].event, 4u);
  EXPECT_EQ(found[1].size, 300u);
  EXPECT_EQ(found[1].old_size, 100u);
  EXPECT_EQ(found[1].live_bytes, 150u);

  EXPECT_EQ(found[2].kind, operation::calloc);
  EXPECT_EQ(found[2].event, 2u);
  EXPECT_EQ(found[2].live_blocks, 1u);
  EXPECT_FALSE(found[2].old_size);

  EXPECT_EQ(found[3].kind, operation::allocation);
  EXPECT_EQ(found[3].event, 6u);
  EXPECT_EQ(found[3].live_bytes, 300u);
  EXPECT_EQ(found[4].event, 5u);
}

}  // namespace
}  // namespace mallard::replay
