#include "replay/run/run_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "replay/allocator/strategy.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;
using testing::random_history;

job done_by(const std::string& name, const trace& t, job_kind kind) {
  const auto all = strategies(subject::threads);
  job task(kind);
  task.warm_ns = 1'000'000;
  std::ranges::find(all, name, &strategy::name)->run(t, task);
  return task;
}

// Hands one of its blocks out twice.
template <int Twice>
class careless {
 public:
  explicit careless(const trace&) {}
  void* allocate(const op& o) {
    const std::lock_guard one(mutex_);
    if (count_++ != Twice)
      blocks_.push_back(std::make_unique<std::byte[]>(std::max<std::size_t>(o.size, 512)));
    return blocks_.back().get();
  }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void*, const op&) {}
  void* reallocate(void* p, const op& to, const op& from) { return move_block(*this, p, to, from); }
  void end_pass() {}

 private:
  std::mutex mutex_;
  int count_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

// Each of two threads frees the block of the other, so both are alive at once.
trace two_blocks() {
  return events()
      .malloc(1, 100)
      .on_thread(1)
      .malloc(2, 100)
      .on_thread(0)
      .free(2)
      .on_thread(1)
      .free(1)
      .schedule();
}

template <class Heap>
job checked(const trace& t) {
  job task(job_kind::check);
  run_threads<Heap>(t, task);
  return task;
}

TEST(RunThreads, ACheckFindsBlocksOfTwoThreadsThatOverlap) {
  const trace t = two_blocks();
  const job bad = checked<careless<1>>(t);
  EXPECT_EQ(bad.state, harness::work_state::failed);
  EXPECT_NE(std::string(bad.reason.data()).find("damaged"), std::string::npos) << bad.reason.data();
  EXPECT_EQ(checked<careless<1000>>(t).state, harness::work_state::done);
}

// Both copies get the same blocks, which each does the same to.
class shared_between_copies {
 public:
  explicit shared_between_copies(const trace& t) : blocks_(t.facts().slots) {}
  void* allocate(const op& o) { return blocks_[o.slot].data(); }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void*, const op&) {}
  void* reallocate(void* p, const op& to, const op& from) { return move_block(*this, p, to, from); }
  void end_pass() {}

 private:
  std::vector<std::array<std::byte, 512>> blocks_;
};

// Nobody makes the copies run at the same time: they are asked to until they have.
TEST(RunThreads, ACheckFindsBlocksThatCopiesShare) {
  const trace t = random_history(2, 500, 3).schedule({.copies = 2});
  const auto state_of_two = [&] {
    job task(job_kind::check);
    task.copies = 2;
    run_threads<shared_between_copies>(t, task);
    return task.state;
  };
  bool found = false;
  for (int i = 0; i < 100 && !found; ++i) found = state_of_two() == harness::work_state::failed;
  EXPECT_TRUE(found);
  EXPECT_EQ(checked<shared_between_copies>(t).state, harness::work_state::done) << "one copy has them alone";
}

TEST(RunThreads, PlacesOfBlocksThatCrossServeEachCopy) {
  const trace t = random_history(3, 2000, 5).schedule({.window = 32, .copies = 3, .crossing = 0.5});
  const auto all = strategies(subject::threads);
  job task(job_kind::check);
  task.copies = 3;
  all.front().run(t, task);
  EXPECT_EQ(task.state, harness::work_state::done) << task.reason.data();
}

TEST(RunThreads, EveryStrategyOfOursServesThreads) {
  const trace t = random_history(4, 3000, 1).schedule(100);
  for (const strategy& s : strategies(subject::threads)) {
    if (s.bound == binding::malloc) continue;
    job task(job_kind::check);
    s.run(t, task);
    EXPECT_EQ(task.state, harness::work_state::done) << s.name << ": " << task.reason.data();
  }
}

TEST(RunThreads, AMeasureHasTimesOfItsOwnAndOfWaits) {
  const job task = done_by("none", random_history(3, 3000, 2).schedule(16), job_kind::measure);
  ASSERT_EQ(task.state, harness::work_state::done) << task.reason.data();
  EXPECT_GE(task.warm_passes, 3U);
  EXPECT_GT(task.warm_wall_ns, 0);
  EXPECT_GT(task.waiting_ns, 0);
  EXPECT_GT(task.cold_wall_ns, 0);
}

// Threads that are ahead keep little more alive than was: here every thread allocates all it can.
TEST(RunThreads, WhatIsAliveStaysWhatWasAlive) {
  events history;
  for (std::uint64_t i = 0; i < 4000; ++i) history.on_thread(i % 4).malloc(i + 1, 1000);
  for (std::uint64_t i = 0; i < 4000; ++i) history.on_thread((i + 1) % 4).free(i + 1);
  const trace t = history.schedule();
  const auto peak = static_cast<double>(t.facts().max_live_bytes);
  const job task = done_by("synchronized_multipool", t, job_kind::footprint);
  ASSERT_EQ(task.state, harness::work_state::done) << task.reason.data();
  EXPECT_LE(static_cast<double>(task.max_live), 1.02 * peak);
  EXPECT_GE(static_cast<double>(task.max_live), 0.98 * peak);
  EXPECT_GE(task.max_held, task.max_live);
}

TEST(RunThreads, InstructionsAreNotCounted) {
  EXPECT_EQ(done_by("none", two_blocks(), job_kind::count_instructions).state, harness::work_state::failed);
}

}  // namespace
}  // namespace mallard::replay
