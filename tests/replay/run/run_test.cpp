#include "replay/run/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <string>

#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

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

}  // namespace
}  // namespace mallard::replay
