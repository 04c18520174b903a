#include "replay/allocator/routed.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/region.hpp"
#include "replay/allocator/mallocs.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/check_pass.hpp"
#include "replay/run/job.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

// What four heaps and what is around them do: allocations of all kinds, frees and reallocations in any order,
// many of them from one heap to another.
events mixed_history(std::uint32_t threads) {
  std::mt19937 random(7);
  events history;
  std::vector<std::uint64_t> live;
  std::uint64_t next = 1;
  history.malloc(next++, 64);
  for (int i = 0; i < 4000; ++i) {
    const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    history.on_thread(below(threads)).in_heap(below(5));
    const std::uint64_t size = random() % 50 == 0 ? 5000 : random() % 300;
    const std::size_t which = live.empty() ? 0 : random() % live.size();
    switch (live.size() < 20 ? 0 : random() % 6) {
      case 0:
        history.malloc(next, size);
        break;
      case 1:
        history.calloc(next, size);
        break;
      case 2:
        history.memalign(next, size, 64);
        break;
      case 3:
        history.realloc(live[which], next, size);
        live[which] = next++;
        continue;
      default:
        history.free(live[which]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
    }
    live.push_back(next++);
  }
  return history;
}

void expect_right(std::span<const strategy> all, const trace& t) {
  for (const strategy& s : all) {
    if (s.beneath != nullptr && s.beneath->name != "glibc") continue;
    job task(job_kind::check);
    s.run(t, task);
    EXPECT_EQ(task.state, harness::work_state::done) << s.name << ": " << task.reason.data();
  }
}

TEST(Routed, EachStrategyServesAPartRightly) {
  expect_right(strategies(subject::blocks, true), mixed_history(1).build_part());
}

TEST(Routed, EachStrategyOfThreadsServesAPartRightly) {
  expect_right(strategies(subject::threads, true), mixed_history(3).schedule_part());
}

// Pages that heaps have of the chunk cache and do not return to it.
std::size_t in_use() { return process_chunks().mapped() - process_chunks().cached(); }

template <class C>
std::size_t in_use_after_each_ended(C& c, const trace& t) {
  std::vector<void*> slots(t.facts().slots);
  EXPECT_EQ(replay_pass<touch::first>(c, t.ops().data(), t.ops().data() + t.ops().size(), slots.data()),
            t.ops().data() + t.ops().size());
  return in_use();
}

TEST(Routed, ARegionGivesBackAllWhenNoBlockOfItIsAlive) {
  const trace t = events().in_heap(1).malloc(1, 100'000).malloc(2, 50'000).free(1).free(2).build_part();
  {
    routed<process_malloc, part_heap<region, ends::when_empty>> c(t);
    EXPECT_EQ(in_use_after_each_ended(c, t), 0u);
  }
  routed<process_malloc, part_heap<monotonic, ends::with_pass>> c(t);
  EXPECT_GE(in_use_after_each_ended(c, t), 150'000u);
  c.end_pass();
  EXPECT_LE(in_use_after_each_ended(c, t), 400'000u) << "the second pass takes what the first had";
}

TEST(Routed, AHeapKeepsItsBlocksWhileOthersEnd) {
  const trace t = events().in_heap(1).malloc(1, 48).in_heap(2).malloc(2, 48).free(1).free(2).build_part();
  routed<process_malloc, part_heap<region, ends::when_empty>> c(t);
  auto* const kept = static_cast<char*>(c.allocate(t.ops()[1]));
  std::memset(kept, 7, 48);
  void* const ended = c.allocate(t.ops()[0]);
  c.deallocate(ended, t.ops()[2]);
  EXPECT_GT(in_use(), 0u);
  EXPECT_EQ(kept[47], 7);
  c.deallocate(kept, t.ops()[3]);
  EXPECT_EQ(in_use(), 0u);
}

TEST(Routed, APoolHasRoomForTheLargestBlockThatItIsAskedFor) {
  const trace t = events().in_heap(1).malloc(1, 16).realloc(1, 1, 600).in_heap(2).malloc(2, 16).build_part();
  routed<process_malloc, part_heap<pool, ends::never>> c(t);
  void* const p = c.allocate(t.ops()[0]);
  EXPECT_EQ(c.reallocate(p, t.ops()[1], t.ops()[2]), p) << "its size is that of every block there";
  c.deallocate(p, t.ops()[1]);
  EXPECT_EQ(c.heap_bytes(), 2 * sizeof(part_heap<pool, ends::never>));
}

TEST(Routed, FromHeapToHeapABlockMoves) {
  const trace t = events()
                      .in_heap(1)
                      .malloc(1, 40)
                      .in_heap(2)
                      .realloc(1, 2, 40)
                      .in_heap(0)
                      .realloc(2, 3, 40)
                      .build_part();
  routed<process_malloc, part_heap<pool, ends::never>> c(t);
  auto* const first = static_cast<char*>(c.allocate(t.ops()[0]));
  std::strcpy(first, "contents");
  auto* const second = static_cast<char*>(c.reallocate(first, t.ops()[1], t.ops()[2]));
  EXPECT_NE(second, first);
  EXPECT_STREQ(second, "contents");
  EXPECT_EQ(c.allocate(t.ops()[0]), first) << "its old place is free again";
  auto* const third = static_cast<char*>(c.reallocate(second, t.ops()[3], t.ops()[4]));
  EXPECT_STREQ(third, "contents");
  c.deallocate(third, t.ops()[3]);
}

TEST(Routed, TheMallocAloneResizesAsThePartHadNoHeaps) {
  const trace t = events().in_heap(1).malloc(1, 40).in_heap(2).realloc(1, 1, 20).build_part();
  routed<process_malloc, process_malloc> c(t);
  auto* const first = static_cast<char*>(c.allocate(t.ops()[0]));
  std::strcpy(first, "contents");
  auto* const second = static_cast<char*>(c.reallocate(first, t.ops()[1], t.ops()[2]));
  EXPECT_STREQ(second, "contents") << "wherever the malloc has put it";
  c.deallocate(second, t.ops()[1]);
  EXPECT_EQ(c.heap_bytes(), 0u);
}

TEST(Routed, TheBaselineHasAPlaceForEachBlockOfBoth) {
  const trace t = mixed_history(1).build_part();
  routed<none, none> c(t);
  static_assert(starts_warm<routed<none, none>>);
  static_assert(!starts_warm<routed<process_malloc, process_malloc>>);
  for (int pass = 0; pass < 2; ++pass)
    EXPECT_EQ(check_pass(c, t.ops(), t.facts().slots).verdict, check_verdict::passed);
}

}  // namespace
}  // namespace mallard::replay
