#include "common/race.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "common/typed_bindings.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/default_source.hpp"
#include "p0089/contention/contention.hpp"
#include "p0089/contention/counting_mutex.hpp"

namespace mallard::bench {
namespace {

TEST(Race, EveryThreadMakesAsManyPasses) {
  std::mutex mutex;
  std::map<std::thread::id, int> passes;
  race(4, 5, [&] {
    const std::lock_guard guard(mutex);
    ++passes[std::this_thread::get_id()];
  });
  EXPECT_EQ(passes.size(), 4u);
  EXPECT_FALSE(passes.contains(std::this_thread::get_id()));
  for (const auto& [thread, count] : passes) EXPECT_EQ(count, 5);
}

TEST(Race, ItsThreadsAreThereAtTheSameTime) {
  std::barrier all(3);
  race(3, 2, [&] { all.arrive_and_wait(); });  // ends only if all three come
}

TEST(Race, CountsTheProcessorTimeOfAllThreads) {
  constexpr std::uint64_t each = 2'000'000;
  const race_times found = race(3, 2, [] {
    const std::uint64_t start = harness::thread_cpu_ns();
    while (harness::thread_cpu_ns() - start < each) {
    }
  });
  EXPECT_GE(found.cpu_ns, 3 * 2 * each);
  EXPECT_GT(found.wall_ns, 0u);
}

TEST(Race, WithoutPassesIsOverAtOnce) {
  race(2, 0, [] { ADD_FAILURE(); });
}

TEST(Race, IsOverForAllWhenOneRunsOutOfMemory) {
  std::atomic<int> passes = 0;
  const auto pass = [&] {
    if (++passes == 10) throw std::bad_alloc();
  };
  EXPECT_THROW(race(3, UINT64_MAX, pass), std::bad_alloc);
}

// Under ThreadSanitizer: heaps of one thread each, and heaps of all, as benchmark IV has them.
TEST(Race, HeapsOfThreadsDoNotMeet) {
  race(4, 3, [] {
    typed_binding<multipool> binding;
    typed_binding<multipool>::life life(binding);
    run_pairs(life, 200, 64);
  });
}

template <class Heap>
void share_among_four() {
  typed_binding<Heap> binding;
  typename typed_binding<Heap>::life life(binding);
  race(4, 3, [&] { run_pairs(life, 200, 64); });
}

TEST(Race, LockedHeapsAreShared) {
  const lock_counts before = lock_counts_of_process();
  share_among_four<locked<multipool, counting_mutex<std::mutex>>>();
  EXPECT_EQ((lock_counts_of_process() - before).attempts, 4u * 3 * 200 * 2);
}

TEST(Race, SynchronisedHeapsAreShared) {
  const lock_counts before = lock_counts_of_process();
  share_among_four<
      basic_synchronized_multipool<default_source, synchronized_multipool_classes, multipool_growth,
                                   multipool_run_growth, counting_mutex<light_mutex>>>();
  EXPECT_GT(lock_counts_of_process().attempts, before.attempts);
}

}  // namespace
}  // namespace mallard::bench
