#include "p0089/contention/contention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/page.hpp"
#include "common/race.hpp"
#include "harness/cpu_clock.hpp"
#include "harness/foreign_malloc.hpp"
#include "tests/p0089/utilization/counting_binding.hpp"

namespace mallard::bench {
namespace {

TEST(Contention, NamesItsSettings) {
  EXPECT_EQ(group_of(contention_setting{15, 6, 8}),
            (nlohmann::ordered_json{{"iterations", 15}, {"block", 6}, {"threads", 8}}));
}

TEST(Contention, SaysHowManyCoresThereWere) {
  const auto method = method_of(contention_setting{15, 6, 8});
  EXPECT_GE(method["cores"], 1);
  EXPECT_TRUE(method["threads"].get<std::string>().starts_with("8 on ")) << method;
}

TEST(Contention, NeedsMemoryForItsThreads) {
  EXPECT_GE(bytes_needed(contention_setting{15, 6, 8}), 8 * stack_of_thread);
  EXPECT_GT(bytes_needed(contention_setting{15, 6, 8}), bytes_needed(contention_setting{15, 6, 7}));
}

// What an allocator makes of a group, in this process, under its malloc.
page ran(const measured_allocator& c) {
  setting whole;
  whole.contention = {4, 6, 2};
  page p(whole);
  c.run(p);
  return p;
}

TEST(Contention, TellsFailedLocksOfTheHeapsWhoseLockIsOurs) {
  std::set<std::string> counted;
  std::set<std::string> uncounted;
  for (const measured_allocator& c : contention_allocators()) {
    if (c.bound == binding::malloc) continue;
    const page p = ran(c);
    EXPECT_EQ(p.state, harness::work_state::done) << c.name();
    (p.failed_locks >= 0 ? counted : uncounted).insert(c.strategy);
  }
  EXPECT_EQ(counted,
            (std::set<std::string>{"synchronized_multipool", "synchronized_pool", "locked multipool"}));
  EXPECT_EQ(uncounted, (std::set<std::string>{"new_delete", "monotonic", "multipool", "multipool/monotonic",
                                              "std.monotonic", "boost.monotonic", "std.pool", "boost.pool",
                                              "std.sync_pool", "boost.sync_pool"}));
}

page asked_for(std::uint32_t iterations, std::uint32_t block, std::uint32_t threads) {
  setting whole;
  whole.contention = {iterations, block, threads};
  return page(whole);
}

TEST(MeasureContention, EachThreadMakesItsPairsColdAndWarm) {
  page p = asked_for(10, 6, 3);
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<bool> right = true;
  measure_contention(p, [&](std::uint64_t pairs, std::size_t size) {
    ++calls;
    if (pairs != 1024 || size != 64) right = false;
    const std::uint64_t start = harness::thread_cpu_ns();
    while (harness::thread_cpu_ns() - start < 1'000'000) {
    }
  });
  EXPECT_TRUE(right);
  EXPECT_EQ(calls % 3, 0u) << "as many in each thread";
  EXPECT_GE(calls, 3u * (1 + 1 + 1));
  EXPECT_GE(p.found[0].cold_ns, 1'000'000.0 / 1024) << "a pair's share of a pass";
  EXPECT_GE(p.found[0].warm_ns, 1'000'000.0 / 1024);
  EXPECT_GT(p.found[0].wall_ns, 0);
  EXPECT_EQ(p.failed_locks, -1) << "nothing counted";
}

// Under a sanitizer threads have pages of its own.
TEST(MeasureContention, TakesNoPagesForStacks) {
  page p = asked_for(4, 6, 16);
  measure_contention(p, [](std::uint64_t, std::size_t) {});
  if (!harness::malloc_is_a_sanitizers()) {
    EXPECT_LT(p.page_faults, 16u) << "less than one a thread";
  }
}

TEST(MeasureContention, EndsWhereMemoryDoes) {
  page p = asked_for(4, 6, 2);
  EXPECT_THROW(measure_contention(p, [](std::uint64_t, std::size_t) { throw std::bad_alloc(); }),
               std::bad_alloc);
}

TEST(Pairs, AreFreedBeforeTheNextIsAllocated) {
  counting_binding binding;
  counting_binding::life life(binding);
  run_pairs(life, 16, 64);
  EXPECT_EQ(binding.allocated, 16u);
  EXPECT_EQ(binding.most_alive, 1u);
  EXPECT_EQ(binding.freed.size(), 16u);
  EXPECT_EQ(binding.sizes, std::vector<std::size_t>(32, 64));
  for (const auto& content : binding.contents) EXPECT_EQ(content[0], 1);
}

}  // namespace
}  // namespace mallard::bench
