#include "replay/allocator/strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/container/detail/dlmalloc.hpp>
#include <set>

#include "replay/run/job.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

// The heaps of the library have a line each in harness/allocator/own_heaps.hpp, and more may come.
TEST(Strategy, TheListHasAllAllocatorsInTheirBindingsOnce) {
  std::multiset<std::string> names;
  for (const strategy& s : strategies()) names.insert(s.name + " " + std::string(name_of(s.bound)));
  const std::set<std::string> expected{"none typed",
                                       "glibc malloc",
                                       "glibc-notrim malloc",
                                       "jemalloc malloc",
                                       "tcmalloc malloc",
                                       "mimalloc malloc",
                                       "tbbmalloc malloc",
                                       "mallard malloc",
                                       "mallard-checked malloc",
                                       "std.monotonic pmr",
                                       "std.pool pmr",
                                       "std.sync_pool pmr",
                                       "boost.monotonic pmr",
                                       "boost.pool pmr",
                                       "boost.sync_pool pmr",
                                       "boost.dlmalloc typed",
                                       "monotonic typed",
                                       "monotonic pmr",
                                       "multipool typed",
                                       "multipool pmr",
                                       "lifo_multipool typed",
                                       "lifo_multipool pmr",
                                       "fifo_multipool typed",
                                       "fifo_multipool pmr",
                                       "multipool/monotonic typed",
                                       "multipool/monotonic pmr",
                                       "best_fit typed",
                                       "best_fit pmr",
                                       "reap typed",
                                       "reap pmr",
                                       "sized_reap typed",
                                       "sized_reap pmr",
                                       "synchronized_multipool typed",
                                       "synchronized_multipool pmr",
                                       "locked_multipool typed",
                                       "locked_multipool pmr"};
  for (const std::string& name : expected) EXPECT_TRUE(names.contains(name)) << name;
  for (const std::string& name : names) EXPECT_EQ(names.count(name), 1u) << name;
}

TEST(Strategy, EachSaysWhatItIs) {
  for (const subject of : {subject::blocks, subject::regions, subject::threads})
    for (const bool is_part : {false, true})
      for (const strategy& s : strategies(of, is_part)) EXPECT_NE(std::string_view(s.summary), "") << s.name;
}

// Its blocks are not the process's malloc's, which a block of malloc would move.
TEST(Strategy, BoostsMallocIsShiftedByABlockOfItsOwn) {
  const trace t = testing::events().malloc(1, 64).free(1).build();
  const auto all = strategies();
  const auto& dlmalloc = *std::ranges::find(all, "boost.dlmalloc", &strategy::name);
  const auto held_by_it = [&](std::uint64_t shift) {
    const std::size_t before = boost::container::dlmalloc_in_use_memory();
    job task(job_kind::check);
    task.shifts = true;
    task.shift = shift;
    dlmalloc.run(t, task);
    EXPECT_EQ(task.state, harness::work_state::done) << task.reason.data();
    return boost::container::dlmalloc_in_use_memory() - before;
  };
  EXPECT_EQ(held_by_it(0), 0u);
  EXPECT_EQ(held_by_it(1024), 1024u);
}

// The baseline is measured first in every round.
TEST(Strategy, TheBaselineIsTheFirst) { EXPECT_EQ(strategies().front().name, "none"); }

}  // namespace
}  // namespace mallard::replay
