#include "p0089/contention/measure_contention.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

#include "harness/cpu_clock.hpp"
#include "harness/foreign_malloc.hpp"
#include "tests/p0089/utilization/counting_binding.hpp"

namespace mallard::bench {
namespace {

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
