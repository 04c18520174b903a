#include "replay/run/littering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <memory_resource>
#include <set>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/os_pages.hpp"
#include "replay/allocator/mallocs.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/allocator/pmr_resource.hpp"
#include "replay/run/run.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

using std_pool = pmr_resource<std::pmr::unsynchronized_pool_resource>;
using std_monotonic = pmr_resource<std::pmr::monotonic_buffer_resource>;
using pools = typed_heap<multipool>;
using pools_by_pmr = pmr_heap<multipool>;
using region = typed_heap<monotonic, true>;

TEST(Littering, IsInWhatFreesItsBlocksOneByOne) {
  EXPECT_TRUE(littered_itself<process_malloc>);
  EXPECT_TRUE(littered_itself<std_pool>);
  EXPECT_TRUE(littered_itself<pools>);
  EXPECT_TRUE(littered_itself<pools_by_pmr>);
  EXPECT_FALSE(littered_itself<region>) << "the end of a pass would end the litter";
  EXPECT_FALSE(littered_itself<std_monotonic>);
  EXPECT_TRUE(ends_all_at_once<region> && ends_all_at_once<std_monotonic>);
  EXPECT_FALSE(littered_itself<none> || ends_all_at_once<none>) << "the baseline is not littered at all";
}

// What is alive at once: 200 blocks.
const trace& sample() {
  static const trace t = [] {
    events history;
    for (std::uint64_t i = 1; i <= 200; ++i) history.malloc(i, 20 + 10 * (i % 3));
    return history.build();
  }();
  return t;
}

// malloc that remembers what it was asked for.
class watched : public process_malloc {
 public:
  using process_malloc::process_malloc;

  void* allocate(const op& o) {
    if (asked.size() == room) throw std::bad_alloc();
    asked.push_back(o);
    return process_malloc::allocate(o);
  }
  void deallocate(void* p, const op& o) {
    freed.push_back(o);
    process_malloc::deallocate(p, o);
  }

  std::size_t room = ~std::size_t{0};
  std::vector<op> asked;
  std::vector<op> freed;
};

TEST(Littering, CallsTheAllocatorAsAPassDoes) {
  watched allocator(sample());
  block_calls through(allocator);
  const harness::heap_calls calls = calls_of(through);
  void* const p = calls.allocate(calls.heap, 24);
  calls.deallocate(calls.heap, p, 24);
  ASSERT_EQ(allocator.asked.size(), 1u);
  EXPECT_EQ(allocator.asked[0].size, 24u);
  EXPECT_EQ(allocator.asked[0].align(), 8u);
  EXPECT_EQ(allocator.freed.at(0).size, 24u);
}

TEST(Littering, AAllocatorThatThrowsHasRunOut) {
  watched allocator(sample());
  allocator.room = 0;
  block_calls through(allocator);
  const harness::heap_calls calls = calls_of(through);
  EXPECT_EQ(calls.allocate(calls.heap, 24), nullptr);
}

template <block_allocator C>
job done(job_kind kind, std::uint64_t litter) {
  job task(kind);
  task.litter = litter;
  run<C>(sample(), task);
  return task;
}

// Blocks that live as long as the test, like the litter that no job takes away. A job makes its own
// allocator: what is counted is of all.
class keeping {
 public:
  explicit keeping(const trace&) {}
  void* allocate(const op&) {
    blocks.push_back(std::make_unique<block>());
    return blocks.back()->data();
  }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void* p, const op&) { freed.insert(p); }
  void* reallocate(void* p, const op&, const op&) { return p; }
  void end_pass() {}

  using block = std::array<char, 64>;
  static inline std::vector<std::unique_ptr<block>> blocks;
  static inline std::set<void*> freed;
};

TEST(Littering, ComesBeforeTheJobAndKTimesAsLargeAsWhatIsAlive) {
  for (const std::uint64_t times : {0u, 1u, 3u, 10u}) {
    keeping::blocks.clear();
    const job task = done<keeping>(job_kind::check, times);
    EXPECT_EQ(task.state, harness::work_state::done) << task.reason.data();
    EXPECT_EQ(keeping::blocks.size(), 200 + 200 * times);
  }
}

// Gives the last block of the trace the room of a block of the litter.
struct encroaching : keeping {
  using keeping::keeping;
  void* allocate(const op& o) {
    const auto is_left = [](const auto& b) { return !freed.contains(b->data()); };
    return blocks.size() == 799 ? (*std::ranges::find_if(blocks, is_left))->data() : keeping::allocate(o);
  }
};

TEST(Littering, ABlockInTheMidstOfLitterFailsTheCheck) {
  keeping::blocks.clear();
  const job task = done<encroaching>(job_kind::check, 3);
  EXPECT_EQ(task.state, harness::work_state::failed);
  EXPECT_STREQ(task.reason.data(), "contents of blocks beside the trace's are damaged");
}

struct small : keeping {
  using keeping::keeping;
  void* allocate(const op& o) { return blocks.size() == 500 ? nullptr : keeping::allocate(o); }
};

TEST(Littering, AHeapTooSmallForItsLitterIsOutOfMemory) {
  keeping::blocks.clear();
  const job task = done<small>(job_kind::measure, 3);
  EXPECT_EQ(task.state, harness::work_state::out_of_memory);
  EXPECT_STREQ(task.reason.data(), "no memory is left for so much litter");
  EXPECT_EQ(task.stopped_at, 0u);
}

template <class C>
void expect_a_new_mark() {
  constexpr op large{1'000'000, 0, op_kind::allocate, 4};
  C allocator(sample());
  allocator.deallocate(allocator.allocate(large), large);
  allocator.deallocate(allocator.allocate(large), large);
  process_chunks().trim(0);
  EXPECT_GE(allocator.max_held(), large.size + allocator.held());
  allocator.reset_max_held();
  EXPECT_EQ(allocator.max_held(), allocator.held());
}

TEST(Littering, TheHighestMarkOfLitterIsNotTheAllocators) {
  expect_a_new_mark<std_pool>();
  expect_a_new_mark<pools>();
  expect_a_new_mark<pools_by_pmr>();
  expect_a_new_mark<typed_heap<basic_multipool<counting<os_pages>>>>();
}

// A fresh pool has chunks to take; a littered one has holes.
TEST(Littering, HeldIsWhatComesAboveTheLitter) {
  for (const auto footprint : {done<pools>, done<pools_by_pmr>, done<std_pool>}) {
    const job fresh = footprint(job_kind::footprint, 0);
    const job littered = footprint(job_kind::footprint, 10);
    EXPECT_GT(fresh.max_held, 200u * 20);
    EXPECT_LT(littered.max_held, fresh.max_held / 2);
    EXPECT_EQ(littered.state, harness::work_state::done);
    EXPECT_FALSE(littered.has_usage);
  }
}

}  // namespace
}  // namespace mallard::replay
