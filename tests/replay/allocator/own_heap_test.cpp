#include "replay/allocator/own_heap.hpp"

#include <gtest/gtest.h>

#include <concepts>

#include "harness/shifted_pages.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/os_pages.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

constexpr std::size_t megabyte = 1'000'000;
constexpr op large{megabyte, 0, op_kind::allocate, 4};

const trace& no_events() {
  static const trace t = events().malloc(1, 64).build();
  return t;
}

template <class Allocator>
void allocate_and_free(Allocator& c) {
  void* const p = c.allocate(large);
  ASSERT_NE(p, nullptr);
  c.deallocate(p, large);
}

// A pass through std::pmr is the same code for all heaps; one of a typed heap has the heap inlined.
static_assert(std::same_as<calls_of_pass<pmr_heap<multipool>>, calls_of_pass<pmr_heap<monotonic>>>);
static_assert(std::same_as<calls_of_pass<typed_heap<multipool>>, typed_heap<multipool>>);

TEST(OwnHeap, HoldsWhatTheChunkCacheKeeps) {
  typed_heap<multipool> typed(no_events());
  allocate_and_free(typed);
  EXPECT_GE(typed.held(), megabyte) << "freed, and still the process's";
  EXPECT_EQ(typed.held(), typed.max_held());

  pmr_heap<multipool> pmr(no_events());
  allocate_and_free(pmr);
  EXPECT_GE(pmr.held(), megabyte);
}

TEST(OwnHeap, BeginsWithAnEmptyCache) {
  {
    typed_heap<multipool> earlier(no_events());
    allocate_and_free(earlier);
  }
  EXPECT_GE(process_chunks().cached(), megabyte);
  const typed_heap<multipool> next(no_events());
  EXPECT_EQ(process_chunks().cached(), 0u) << "the first pass of the next would not be cold";
  EXPECT_EQ(next.held(), 0u);
  EXPECT_EQ(next.max_held(), 0u);
}

TEST(OwnHeap, FindsTheCacheBelowAStackOfHeaps) {
  typed_heap<multipool_over_monotonic> stack(no_events());
  allocate_and_free(stack);
  stack.end_pass();
  EXPECT_EQ(stack.held(), process_chunks().mapped());
  EXPECT_GE(stack.max_held(), megabyte);
}

TEST(OwnHeap, CountsAHeapOverAnotherSourceThere) {
  typed_heap<basic_multipool<counting<os_pages>>> heap(no_events());
  allocate_and_free(heap);
  EXPECT_EQ(heap.held(), 0u);
  EXPECT_GE(heap.max_held(), megabyte);
  EXPECT_EQ(process_chunks().max_mapped(), 0u);
}

job checked(const strategy& s, bool shifts, std::uint64_t shift) {
  job task(job_kind::check);
  task.shifts = shifts;
  task.shift = shift;
  s.run(no_events(), task);
  EXPECT_EQ(task.state, harness::work_state::done) << s.name << ": " << task.reason.data();
  return task;
}

// Else the shifts would compare two sources, or move nothing. Pages that shift take one more a chunk.
TEST(OwnHeap, StandsOnPagesThatShiftAtEachOfItsShifts) {
  for (const strategy& s : own_strategies()) {
    checked(s, false, 0);
    const std::size_t unshifted = process_chunks().max_mapped();
    checked(s, true, 0);
    const std::size_t at_0 = process_chunks().max_mapped();
    EXPECT_GT(at_0, unshifted) << s.name;
    for (const std::uint64_t shift : {64u, 1024u, 2048u, 4032u}) {
      checked(s, true, shift);
      EXPECT_EQ(harness::shifted_pages::shift, shift) << s.name;
      EXPECT_EQ(process_chunks().max_mapped(), at_0) << s.name << " at " << shift;
    }
  }
}

}  // namespace
}  // namespace mallard::replay
