#include "replay/run/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <span>
#include <string>

#include "harness/cpu_clock.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/callgrind.hpp"
#include "replay/run/samples.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;
using testing::region_events;

constexpr std::uint64_t regions = 1000;
constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;

job footprint_of(const std::string& name, const trace& t) {
  const auto all = strategies(subject::regions);
  job task(job_kind::footprint);
  std::ranges::find(all, name, &strategy::name)->run(t, task);
  EXPECT_EQ(task.state, harness::work_state::done) << name << ": " << task.reason.data();
  return task;
}

// What a program keeps its regions in is memory, too, though the harness has it ready beforehand.
TEST(Run, AFootprintHoldsTheObjectsOfTheRegionsAlive) {
  region_events history;
  for (std::uint64_t r = 1; r <= regions; ++r) history.create(r);
  for (std::uint64_t r = 1; r <= regions; ++r) history.destroy(r);
  const trace t = history.build();
  EXPECT_GE(footprint_of("region", t).max_held, regions * sizeof(region));
  EXPECT_GE(footprint_of("reap", t).max_held, regions * sizeof(reap));
  EXPECT_GE(footprint_of("sized_reap", t).max_held, regions * sizeof(sized_reap));
  EXPECT_GE(footprint_of("std.monotonic", t).max_held, regions * sizeof(std::pmr::monotonic_buffer_resource));
  EXPECT_LT(footprint_of("region", t).held_after, regions * sizeof(region)) << "all have ended";
}

// Many regions at one time and many bytes at another are not added up.
TEST(Run, AFootprintIsTheMostOfMemoryAndObjectsTogether) {
  region_events together;
  region_events apart;
  for (std::uint64_t r = 1; r <= regions; ++r) together.create(r);
  together.allocate(1, 0x1000, megabyte);
  for (std::uint64_t r = 1; r <= regions; ++r) apart.create(r);
  for (std::uint64_t r = 1; r <= regions; ++r) apart.destroy(r);
  apart.create(1).allocate(1, 0x1000, megabyte);
  const std::uint64_t most = footprint_of("region", together.build()).max_held;
  EXPECT_GE(most, megabyte + regions * sizeof(region));
  EXPECT_EQ(footprint_of("region", apart.build()).max_held, most - (regions - 1) * sizeof(region));
}

// A part's allocator whose free of a block takes long, if the program never freed it: in the first passes,
// which are all that are measured if that counts. Passes without it are timed by the thousand.
class slow_at_the_end : public none {
 public:
  static constexpr std::uint64_t long_ns = 20'000'000;
  static constexpr int slow_passes = 8;

  explicit slow_at_the_end(const trace& t) : none(t), recorded_(t.recorded_ops()) {}

  void deallocate(void* p, const op& o) {
    if (&o >= recorded_.data() + recorded_.size() && passes_++ < slow_passes) {
      const std::uint64_t begin = harness::thread_cpu_ns();
      while (harness::thread_cpu_ns() - begin < long_ns) {
      }
    }
    none::deallocate(p, o);
  }
  [[nodiscard]] static std::size_t heap_bytes() { return 0; }

 private:
  std::span<const op> recorded_;
  int passes_ = 0;
};

TEST(Run, FreesOfWhatTheProgramNeverFreedAreNotTimedWithAPart) {
  events history;
  history.malloc(0x1000, 100).malloc(0x2000, 100).free(0x1000);
  const trace t = history.build();
  ASSERT_EQ(t.facts().never_freed, 1u);
  job task(job_kind::measure);
  task.warm_ns = 1;
  slow_at_the_end slow(t);
  runner<slow_at_the_end>(t, task).run(slow);
  EXPECT_EQ(task.state, harness::work_state::done);
  EXPECT_LT(task.cold_ns, slow_at_the_end::long_ns);
  EXPECT_LT(task.warm_median_ns, slow_at_the_end::long_ns);
}

TEST(Samples, ALongPassIsASampleOfItsOwn) {
  samples s(10'000'000);
  for (std::uint64_t ns : {4'000'000u, 9'000'000u, 5'000'000u}) {
    EXPECT_FALSE(s.enough());
    s.add(ns);
  }
  EXPECT_TRUE(s.enough());
  EXPECT_EQ(s.passes(), 3u);
  EXPECT_DOUBLE_EQ(s.median(), 5'000'000);
}

TEST(Samples, ThreeAreNeededHoweverLongOneTakes) {
  samples s(1);
  s.add(1'000'000'000);
  s.add(1'000'000'000);
  EXPECT_FALSE(s.enough());
}

TEST(Samples, ShortPassesAreTimedInBatches) {
  samples s(0);
  s.add(100);  // one pass: far too short to be timed
  EXPECT_GT(s.passes_a_sample(), 1000u);
  while (!s.enough()) s.add(100 * s.passes_a_sample());
  EXPECT_NEAR(s.median(), 100, 1e-6);
}

TEST(Samples, TheRoomIsBounded) {
  samples s(~std::uint64_t{0});
  std::uint64_t count = 0;
  while (!s.enough()) {
    s.add(1'000'000);
    ++count;
  }
  EXPECT_EQ(s.passes(), count);
}

TEST(Callgrind, TheCountIsReadFromItsLastLine) {
  EXPECT_EQ(instructions_in("==26985== I   refs:      12,010"), 12010);
  EXPECT_EQ(instructions_in("==26985== Collected : 7"), 7);
}

TEST(Callgrind, OtherLinesHoldNoCount) {
  EXPECT_EQ(instructions_in(""), std::nullopt);
  EXPECT_EQ(instructions_in("valgrind: fatal error: 17"), std::nullopt);
  EXPECT_EQ(instructions_in("==26985== I   refs:"), std::nullopt);
}

TEST(Callgrind, RunsTheSameWorkerInTheSameEnvironment) {
  const harness::launch_plan plan = under_callgrind({"/bin/worker", {"--job", "1"}, {"LD_PRELOAD=lib.so"}});
  ASSERT_GE(plan.arguments.size(), 3u);
  EXPECT_EQ(plan.program, valgrind_path());
  EXPECT_EQ(plan.arguments[plan.arguments.size() - 3], "/bin/worker");
  EXPECT_EQ(plan.arguments.back(), "1");
  EXPECT_EQ(plan.environment, std::vector<std::string>{"LD_PRELOAD=lib.so"});
}

}  // namespace
}  // namespace mallard::replay
