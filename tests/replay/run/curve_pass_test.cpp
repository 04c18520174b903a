#include "replay/run/curve_pass.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "harness/cpu_clock.hpp"
#include "mallard/heap/region.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/region/nested_regions.hpp"
#include "replay/run/run.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;
using testing::region_events;

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;

// Holds after each operation what a test says.
class scripted {
 public:
  explicit scripted(const trace&) {}
  void* allocate(const op&) { return step(memory_.data()); }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void* p, const op&) { step(p); }
  void* reallocate(void* p, const op&, const op&) { return step(p); }
  void end_pass() {}

  [[nodiscard]] std::size_t held() const { return done_ == 0 ? 0 : held_after.at(done_ - 1); }
  [[nodiscard]] std::size_t max_held() const { return most_; }
  void reset_max_held() {}
  [[nodiscard]] heap_usage usage() const {
    const std::uint64_t start = harness::thread_cpu_ns();
    while (harness::thread_cpu_ns() < start + walk_ns) {
    }
    return {held(), held(), held() / 2};
  }

  static inline std::vector<std::size_t> held_after;
  static inline std::uint64_t walk_ns = 0;

 private:
  void* step(void* result) {
    most_ = std::max(most_, held_after.at(done_++));
    return result;
  }

  std::array<char, 4096> memory_{};
  std::size_t done_ = 0;
  std::size_t most_ = 0;
};

template <class C>
held_curve drawn(const trace& t) {
  job task(job_kind::curve);
  run<C>(t, task);
  EXPECT_EQ(task.state, harness::work_state::done) << task.reason.data();
  return task.curve;
}

job done_by(const char* name, job_kind kind, const trace& t) {
  const auto all = strategies(t.facts().of);
  job task(kind);
  std::ranges::find(all, name, &strategy::name)->run(t, task);
  EXPECT_EQ(task.state, harness::work_state::done) << name << ": " << task.reason.data();
  return task;
}

using figures = std::vector<std::uint64_t>;

figures of_points(const held_curve& c, std::uint64_t curve_point::* figure) {
  figures list;
  for (std::size_t i = 0; i < c.count; ++i) list.push_back(c.points[i].*figure);
  return list;
}

TEST(CurvePass, FewOperationsAreAPointEachAndExact) {
  const trace t = events().malloc(1, 100).malloc(2, 200).free(1).realloc(2, 3, 400).malloc(4, 50).build();
  scripted::held_after = {4096, 8192, 8000, 12000, 10000};
  const held_curve c = drawn<scripted>(t);
  EXPECT_EQ(of_points(c, &curve_point::event), (figures{1, 2, 3, 4, 5})) << "without the frees at the end";
  EXPECT_EQ(of_points(c, &curve_point::live), (figures{100, 300, 200, 400, 450}));
  EXPECT_EQ(of_points(c, &curve_point::held_min), (figures{4096, 8192, 8000, 12000, 10000}));
  EXPECT_EQ(of_points(c, &curve_point::held_max), (figures{4096, 8192, 8000, 12000, 10000}));
  EXPECT_EQ(of_points(c, &curve_point::granted), (figures{2048, 4096, 4000, 6000, 5000}));
  EXPECT_EQ(c.walks_left_out, 0u);
  EXPECT_EQ(c.marks.max_held, 12000u);
  EXPECT_EQ(c.marks.live_at_max_held, 400u);
  EXPECT_EQ(c.marks.held_at_max_live, 10000u);
  EXPECT_DOUBLE_EQ(c.marks.mean_ratio,
                   (4096 / 100.0 + 8192 / 300.0 + 8000 / 200.0 + 12000 / 400.0 + 10000 / 450.0) / 5);
}

// Blocks that come and go at random; what is held has nothing to do with them.
TEST(CurvePass, ManyOperationsAreThinnedOutAndNoExtremeIsLost) {
  std::mt19937 random(11);
  events history;
  std::vector<std::uint64_t> alive;
  figures live;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    if (alive.empty() || random() % 2 == 0) {
      alive.push_back(i);
      history.malloc(i, 1 + i % 3000);
      bytes += 1 + i % 3000;
    } else {
      std::swap(alive[random() % alive.size()], alive.back());
      bytes -= 1 + alive.back() % 3000;
      history.free(alive.back());
      alive.pop_back();
    }
    live.push_back(bytes);
  }
  const trace t = history.build();
  scripted::held_after.clear();
  for (std::size_t i = 0; i < live.size(); ++i) scripted::held_after.push_back(random());

  const held_curve c = drawn<scripted>(t);
  EXPECT_LE(c.count, held_curve::most_points);
  EXPECT_GT(c.count, held_curve::most_points / 2);
  const auto held = scripted::held_after.begin();
  std::size_t from = 0;
  for (std::size_t i = 0; i < c.count; ++i) {
    const curve_point& p = c.points[i];
    ASSERT_GT(p.event, from);
    EXPECT_EQ(p.live, live[p.event - 1]);
    const auto first = held + static_cast<std::ptrdiff_t>(from);
    const auto last = held + static_cast<std::ptrdiff_t>(p.event);
    EXPECT_EQ(p.held_min, *std::min_element(first, last)) << i;
    EXPECT_EQ(p.held_max, *std::max_element(first, last)) << i;
    from = p.event;
  }
  EXPECT_EQ(from, live.size());

  const auto moment = [](const auto& of) {
    return static_cast<std::uint64_t>(std::ranges::max_element(of) - of.begin()) + 1;
  };
  const figures points = of_points(c, &curve_point::event);
  EXPECT_TRUE(std::ranges::binary_search(points, moment(live))) << "of most live";
  EXPECT_TRUE(std::ranges::binary_search(points, moment(scripted::held_after))) << "of most held";
  EXPECT_EQ(c.marks.held_at_max_live, scripted::held_after[moment(live) - 1]);
  EXPECT_EQ(c.marks.live_at_max_held, live[moment(scripted::held_after) - 1]);
}

// The replay's own figure for both: nothing may be lost between operations either.
TEST(CurvePass, AgreesWithTheFootprint) {
  events history;
  for (std::uint64_t i = 1; i <= 3000; ++i) history.malloc(i, 16 + i % 500);
  for (std::uint64_t i = 1; i <= 3000; i += 3) history.free(i);
  history.realloc(2, 5000, 100'000).malloc(5001, 300'000).free(5001).realloc(5000, 5002, 200'000);
  const trace t = history.build();
  for (const char* name : {"multipool", "best_fit", "reap", "std.pool", "multipool/monotonic"}) {
    const job drawing = done_by(name, job_kind::curve, t);
    const job weighing = done_by(name, job_kind::footprint, t);
    EXPECT_EQ(drawing.curve.marks.max_held, weighing.max_held) << name;
    if (weighing.has_usage) {
      EXPECT_EQ(drawing.curve.marks.held_at_max_live, weighing.held) << name;
    }
  }
}

TEST(CurvePass, HoldsTheObjectsOfTheRegionsAlive) {
  region_events history;
  for (std::uint64_t r = 1; r <= 1000; ++r) history.create(r);
  history.allocate(1, 0x1000, megabyte);
  for (std::uint64_t r = 1; r <= 1000; ++r) history.destroy(r);
  const trace t = history.build();
  const held_curve c = drawn<nested_regions<region>>(t);
  EXPECT_GE(c.marks.held_at_max_live, megabyte + 1000 * sizeof(region));
  EXPECT_EQ(c.marks.max_held, done_by("region", job_kind::footprint, t).max_held);
}

// What is counted at the source has been higher within an operation than after it.
TEST(CurvePass, AMarkThatIsPassedWithinAnOperationCounts) {
  struct moving : scripted {
    using scripted::scripted;
    void* reallocate(void* p, const op& to, const op& from) {
      passed_ = 30'000;
      return scripted::reallocate(p, to, from);
    }
    [[nodiscard]] std::size_t max_held() const { return std::max(scripted::max_held(), passed_); }
    std::size_t passed_ = 0;
  };
  scripted::held_after = {4096, 16384, 16384};
  const held_curve c = drawn<moving>(events().malloc(1, 100).realloc(1, 1, 200).malloc(2, 8).build());
  EXPECT_EQ(of_points(c, &curve_point::held_min), (figures{4096, 16384, 16384}));
  EXPECT_EQ(of_points(c, &curve_point::held_max), (figures{4096, 30'000, 16384}));
  EXPECT_EQ(c.marks.live_at_max_held, 200u);
}

// Walks that take a millisecond each, of which 10 are affordable, and that at the moment of most live bytes.
TEST(CurvePass, DearWalksAreLeftOutEvenly) {
  events history;
  for (std::uint64_t i = 1; i <= 50; ++i) history.malloc(i, 8);
  for (std::uint64_t i = 1; i <= 50; ++i) history.free(i);
  const trace t = history.build();
  scripted::held_after.assign(100, 4096);
  scripted c(t);
  held_curve curve;
  const auto replay = [&c, &t](std::size_t from, std::size_t to) {
    for (; from < to; ++from) c.deallocate(nullptr, t.ops()[from]);
    return true;
  };
  scripted::walk_ns = 1'000'000;
  EXPECT_TRUE(curve_pass(c, t, 0, replay, curve, 10'000'000));
  scripted::walk_ns = 0;
  figures known;
  for (std::size_t i = 0; i < curve.count; ++i)
    if (curve.points[i].granted != unknown_bytes) known.push_back(curve.points[i].event);
  EXPECT_LE(known.size(), 13u);
  EXPECT_GE(known.size(), 3u) << "the first, the fullest and the last in any case";
  EXPECT_EQ(known.back(), 100u);
  EXPECT_TRUE(std::ranges::binary_search(known, 50u)) << "where most is live";
  EXPECT_EQ(curve.walks_left_out, 100 - known.size());
}

// A page or more for each block, from the system and back to it; a block that grows is copied.
class mapped {
 public:
  explicit mapped(const trace&) {}
  void* allocate(const op& o) {
    return ::mmap(nullptr, o.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void* p, const op& o) { ::munmap(p, o.size); }
  void* reallocate(void* p, const op& to, const op& from) {
    void* const moved = allocate(to);
    std::memset(moved, 1, to.size);
    deallocate(p, from);
    return moved;
  }
  void end_pass() {}
};

// The kernel's figures; what a sanitizer keeps beside the blocks is added to them.
TEST(CurvePass, WhatCannotBeAskedIsResidentMemory) {
  const trace t = events()
                      .malloc(1, 8 * megabyte)
                      .malloc(2, 4 * megabyte)
                      .free(1)
                      .malloc(3, megabyte)
                      .realloc(3, 3, 20 * megabyte)
                      .realloc(3, 3, 21 * megabyte)
                      .free(3)
                      .build();
  const held_curve c = drawn<mapped>(t);
  const figures live = of_points(c, &curve_point::live);
  EXPECT_EQ(live, (figures{8 * megabyte, 12 * megabyte, 4 * megabyte, 5 * megabyte, 24 * megabyte,
                           25 * megabyte, 4 * megabyte}));
  const double slack = 0.3 * megabyte;
  const auto about = [&](std::uint64_t found, std::uint64_t expected) {
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected),
                slack + static_cast<double>(expected) / 5);
  };
  about(c.points[0].held_max, 8 * megabyte);
  about(c.points[1].held_max, 12 * megabyte);
  about(c.points[2].held_min, 4 * megabyte);
  about(c.points[5].held_max, 45 * megabyte);  // both copies
  about(c.points[6].held_min, 4 * megabyte);
  about(c.marks.held_at_max_live, 25 * megabyte);
  about(c.marks.max_held, 45 * megabyte);
  EXPECT_EQ(c.marks.live_at_max_held, 25 * megabyte);
  EXPECT_NEAR(c.marks.mean_ratio, 1, 0.25);
  for (const std::uint64_t granted : of_points(c, &curve_point::granted)) EXPECT_EQ(granted, unknown_bytes);
}

TEST(CurvePass, ARefusalIsTold) {
  struct small : scripted {
    using scripted::scripted;
    void* allocate(const op& o) { return o.size == 77 ? nullptr : scripted::allocate(o); }
  };
  scripted::held_after.assign(3, 4096);
  job task(job_kind::curve);
  run<small>(events().malloc(1, 8).malloc(2, 77).build(), task);
  EXPECT_EQ(task.state, harness::work_state::out_of_memory);
  EXPECT_EQ(task.stopped_at, 1u);
}

// Else what is given back by time would depend on how long the drawing takes.
TEST(CurvePass, TheChunkCacheKeepsWhatItHasMeanwhile) {
  const std::uint64_t usual = process_chunks().keep_time();
  {
    const kept_chunks kept;
    EXPECT_GT(process_chunks().keep_time(), std::uint64_t{1} << 40);
  }
  EXPECT_EQ(process_chunks().keep_time(), usual);
}

TEST(CurvePlan, StopsWhereMostIsLiveAndAtTheEnd) {
  events history;
  for (std::uint64_t i = 1; i <= 5000; ++i) history.malloc(i, i == 2345 ? 100'000 : 8).free(i);
  const trace t = history.malloc(6000, 8).build();
  const curve_plan plan(t);
  EXPECT_LE(plan.stops().size(), curve_recorder::most_stretches);
  EXPECT_TRUE(std::ranges::any_of(plan.stops(), [](const curve_stop& s) { return s.live == 100'000; }));
  EXPECT_EQ(plan.stops().back().event, 10'001u);
  EXPECT_EQ(plan.stops().back().op, t.facts().recorded_ops);
  double inverse = 0;
  std::uint64_t operations = 0;
  for (const curve_stop& s : plan.stops()) {
    inverse += s.inverse_live;
    operations += s.operations;
  }
  EXPECT_EQ(operations, 5001u) << "after a free nothing is live";
  EXPECT_NEAR(inverse, 5000 / 8.0 + 1 / 100'000.0, 1e-6);
}

}  // namespace
}  // namespace mallard::replay
