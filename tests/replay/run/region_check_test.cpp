#include "replay/run/region_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "harness/shifted_pages.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/job.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::region_events;

// Nested, cleared with children, freed one by one, moved, left over.
const trace& sample() {
  static const trace t = region_events()
                             .create(1)
                             .allocate(1, 0x1000, 48)
                             .create(2, 1)
                             .allocate(2, 0x2000, 100)
                             .allocate(1, 0x3000, 0)
                             .create(3, 2)
                             .allocate(3, 0x4000, 5000)
                             .free(2, 0x2000)
                             .allocate(2, 0x5000, 24)
                             .destroy(3)
                             .allocate(1, 0x6000, 48)
                             .clear(1)
                             .allocate(1, 0x7000, 7)
                             .create(4, 1)
                             .allocate(4, 0x8000, 3000)
                             .create(5)
                             .create(4, 5)
                             .destroy(1)
                             .allocate(4, 0x9000, 3000)
                             .build();
  return t;
}

template <class C>
std::string verdict_on(C& allocator, const trace& t = sample()) {
  const check_result result = check_region_pass(allocator, t);
  return result.verdict == check_verdict::passed ? "passed" : result.what;
}

// Honest regions over one buffer that is never reused; each control below gives them one error.
class honest_regions {
 public:
  static constexpr bool clear_ends_children = true;
  static constexpr bool destroy_ends_children = true;

  bool create(std::uint32_t, std::uint32_t) { return true; }
  void* allocate(const region_op& o) {
    next_ = align_up(next_, o.align()) + o.size();
    return memory_.data() + next_ - o.size();
  }
  void deallocate(void*, const region_op&) {}
  void clear(std::uint32_t) {}
  void destroy(std::uint32_t) {}
  void end_pass() {}

 protected:
  alignas(4096) std::array<char, 16384> memory_{};
  std::size_t next_ = 0;
};

TEST(RegionCheck, AnHonestAllocatorPasses) {
  honest_regions honest;
  EXPECT_EQ(verdict_on(honest), "passed");
  region_none baseline(sample());
  EXPECT_EQ(verdict_on(baseline), "passed");
}

TEST(RegionCheck, OneRegionsMemoryInAnotherIsCaught) {
  struct : honest_regions {
    void* allocate(const region_op& o) {
      if (o.size() == 100) next_ = 0;
      return honest_regions::allocate(o);
    }
  } overlapping;
  EXPECT_EQ(verdict_on(overlapping), "two live blocks overlap");
}

TEST(RegionCheck, AnEndThatTakesTheRegionAroundItIsCaught) {
  struct : honest_regions {
    void destroy(std::uint32_t) { next_ = 0; }
  } greedy;
  EXPECT_EQ(verdict_on(greedy), "two live blocks overlap");
}

TEST(RegionCheck, AClearThatTakesAnotherRegionIsCaught) {
  struct : honest_regions {
    void clear(std::uint32_t) { memory_.fill(0); }
  } wide;
  const trace t = region_events().create(1).create(2).allocate(1, 1, 24).clear(2).destroy(1).build();
  EXPECT_EQ(verdict_on(wide, t), "contents written at the allocation are damaged at the free");
}

TEST(RegionCheck, AFreeThatTakesMoreThanItsBlockIsCaught) {
  struct : honest_regions {
    void deallocate(void* p, const region_op& o) { static_cast<char*>(p)[o.size()] ^= 1; }
  } ragged;
  const trace t = region_events()
                      .create(1)
                      .allocate(1, 1, 24)
                      .allocate(1, 2, 24)
                      .free(1, 1)
                      .create(2, 1)
                      .destroy(1)
                      .build();
  EXPECT_EQ(verdict_on(ragged, t), "contents written at the allocation are damaged at the free");
}

// The children are looked at before their parent takes them away, while all they hold is alive.
TEST(RegionCheck, WhatEndsWithItsParentIsLookedAtToo) {
  struct : honest_regions {
    void* allocate(const region_op& o) {
      if (victim != nullptr) *victim ^= 1;
      return victim = static_cast<char*>(honest_regions::allocate(o));
    }
    char* victim = nullptr;
  } scribbling;
  const trace t =
      region_events().create(1).create(2, 1).allocate(2, 1, 8).allocate(1, 2, 8).destroy(1).build();
  EXPECT_EQ(verdict_on(scribbling, t), "contents written at the allocation are damaged at the free");
}

TEST(RegionCheck, MisalignedBlocksAreCaught) {
  struct : honest_regions {
    void* allocate(const region_op& o) { return static_cast<char*>(honest_regions::allocate(o)) + 4; }
  } misaligned;
  EXPECT_EQ(verdict_on(misaligned), "a block is not aligned as asked");
}

TEST(RegionCheck, ExhaustionIsToldFromAViolation) {
  struct : honest_regions {
    bool create(std::uint32_t, std::uint32_t parent) { return parent == no_region; }
  } flat;
  EXPECT_EQ(check_region_pass(flat, sample()).verdict, check_verdict::exhausted);

  struct : honest_regions {
    void* allocate(const region_op& o) {
      if (o.size() == 5000) throw std::bad_alloc();
      return honest_regions::allocate(o);
    }
  } throwing;
  const check_result result = check_region_pass(throwing, sample());
  EXPECT_EQ(result.verdict, check_verdict::exhausted);
  EXPECT_EQ(sample().region_ops()[result.stopped_at].size(), 5000u);
}

// Remembers which regions it was told to destroy.
template <bool TakesChildren>
struct told_regions : honest_regions {
  static constexpr bool clear_ends_children = TakesChildren;
  static constexpr bool destroy_ends_children = TakesChildren;
  void destroy(std::uint32_t region) { ended.push_back(region); }
  std::vector<std::uint32_t> ended;
};

// Which regions an allocator learns of depends on what its own ends take along.
TEST(RegionCheck, AllocatorsAreToldOfEveryEndThatTheirsDoNotInclude) {
  told_regions<false> flat;
  told_regions<true> nested;
  const trace t =
      region_events().create(1).create(2, 1).create(3, 2).clear(1).create(2, 1).destroy(1).build();
  EXPECT_EQ(verdict_on(flat, t), "passed");
  EXPECT_EQ(flat.ended, (std::vector<std::uint32_t>{2, 1, 1, 0}));
  EXPECT_EQ(verdict_on(nested, t), "passed");
  EXPECT_EQ(nested.ended, (std::vector<std::uint32_t>{0}));
}

// Checked in this process.
void check(const strategy& s, bool shifts, std::uint64_t shift, const trace& t = sample()) {
  job task(job_kind::check);
  task.shifts = shifts;
  task.shift = shift;
  s.run(t, task);
  EXPECT_EQ(task.state, harness::work_state::done) << s.name << " at " << shift << ": " << task.reason.data();
}

// Every strategy that needs no other malloc, and with its heap's start shifted.
TEST(RegionCheck, EveryStrategyPassesWhereverItsHeapStarts) {
  for (const strategy& s : strategies(subject::regions)) {
    if (s.bound == binding::malloc && !is_over_glibc(s)) continue;
    check(s, false, 0);
    for (const std::uint64_t shift : {0u, 64u, 4032u}) check(s, true, shift);
  }
}

// A region that is moved into one inside it: where that ends, it takes nothing that has ended by itself.
TEST(RegionCheck, MovesThatFormACircleAreServed) {
  const trace t = region_events()
                      .create(1)
                      .allocate(1, 0x1000, 24)
                      .create(2, 1)
                      .allocate(2, 0x2000, 24)
                      .create(1, 2)
                      .destroy(2)
                      .allocate(1, 0x3000, 24)
                      .build();
  for (const strategy& s : strategies(subject::regions))
    if (s.bound != binding::malloc || is_over_glibc(s)) check(s, false, 0, t);
}

// Else the shifts would compare two sources, or move nothing. Pages that shift take one more a chunk.
TEST(RegionCheck, OwnHeapsStandOnPagesThatShiftAtEachOfTheirShifts) {
  for (const strategy& s : strategies(subject::regions)) {
    if (s.name != "region" && s.name != "reap" && s.name != "sized_reap") continue;
    check(s, false, 0);
    const std::size_t unshifted = process_chunks().max_mapped();
    check(s, true, 0);
    const std::size_t at_0 = process_chunks().max_mapped();
    EXPECT_GT(at_0, unshifted) << s.name;
    for (const std::uint64_t shift : {64u, 1024u, 2048u, 4032u}) {
      check(s, true, shift);
      EXPECT_EQ(harness::shifted_pages::shift, shift) << s.name;
      EXPECT_EQ(process_chunks().max_mapped(), at_0) << s.name << " at " << shift;
    }
  }
}

}  // namespace
}  // namespace mallard::replay
