#include "mallard/debug/guarded.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory_resource>
#include <string>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/stats.hpp"
#include "mallard/resource/resource.hpp"

namespace mallard {
namespace {

using heap_type = guarded<stats<failing<multipool>>>;

static_assert(layered<heap_type> && predictable<heap_type> && measurable<heap_type> && owning<heap_type>);
static_assert(clearable<heap_type> && !clearable<guarded<os_pages>>);
static_assert(releasable<heap_type> && trimmable<heap_type> && inspectable<heap_type>);

class Guarded : public testing::Test {
 protected:
  Guarded() {
    heap_.table().set_handler(
        [](const misuse_report& r, void* seen) { static_cast<Guarded*>(seen)->seen_.push_back(r); }, this);
  }

  std::byte* take(std::size_t size, std::size_t align) {
    return static_cast<std::byte*>(heap_.allocate(size, align).data);
  }
  [[nodiscard]] std::size_t out_upstream() { return heap_.upstream().statistics().blocks.live; }

  std::vector<misuse_report> seen_;
  heap_type heap_;
};

TEST_F(Guarded, FillsNewMemoryAndFreedMemory) {
  std::byte* const p = take(100, 8);
  EXPECT_EQ(first_other(p, 100, pattern::fresh), nullptr);
  heap_.deallocate(p, 100, 8);
  EXPECT_EQ(first_other(p, 100, pattern::freed), nullptr);
}

TEST_F(Guarded, SeesTheFirstByteTooManyWhateverTheAlignment) {
  for (std::size_t align = 1; align <= 4096; align *= 2)
    for (const std::size_t size : {1u, 13u, 100u, 70000u}) {
      std::byte* const p = take(size, align);
      std::memset(p, 1, size);
      EXPECT_FALSE(heap_.validate());
      p[size] = std::byte{0};
      EXPECT_TRUE(heap_.validate());
      heap_.deallocate(p, size, align);
      ASSERT_EQ(seen_.size(), 1u);
      EXPECT_EQ(seen_[0].what, misuse::written_behind);
      EXPECT_EQ(seen_[0].pointer, p + size);
      seen_.clear();
      EXPECT_FALSE(heap_.validate()) << "reported once";
    }
}

TEST_F(Guarded, NamesThePlacesOfADoubleFree) {
  std::byte* const p = take(48, 8);
  heap_.deallocate(p, 48, 8);
  heap_.deallocate(p, 48, 8);
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].what, misuse::double_free);
  const call_place& first = seen_[0].block->freed;
  EXPECT_FALSE(seen_[0].block->allocated.empty());
  EXPECT_FALSE(first.empty());
  EXPECT_FALSE(seen_[0].now.empty());
  EXPECT_NE(first[0], seen_[0].now[0]) << "two different calls";
  EXPECT_EQ(first[1], seen_[0].now[1]) << "of the same function";
}

TEST_F(Guarded, SeesAWriteAfterFreeWhenTheBlockLeavesTheQuarantine) {
  std::byte* const p = take(48, 8);
  heap_.deallocate(p, 48, 8);
  p[5] = std::byte{0};
  EXPECT_TRUE(heap_.validate());
  EXPECT_TRUE(seen_.empty());
  heap_.trim(0);
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].what, misuse::written_after_free);
  EXPECT_EQ(seen_[0].pointer, p + 5);
  EXPECT_EQ(out_upstream(), 0u);
}

TEST_F(Guarded, ReportsAllDamageWhenAskedAndOnlyOnce) {
  std::byte* const a = take(48, 8);
  std::byte* const b = take(48, 8);
  std::byte* const c = take(48, 8);
  heap_.deallocate(c, 48, 8);
  a[-1] = b[48] = c[0] = std::byte{0};
  EXPECT_EQ(heap_.report_damage(), 3u);
  ASSERT_EQ(seen_.size(), 3u);
  EXPECT_EQ(seen_[0].what, misuse::written_before);
  EXPECT_EQ(seen_[1].what, misuse::written_behind);
  EXPECT_EQ(seen_[2].what, misuse::written_after_free);
  EXPECT_FALSE(seen_[2].now.empty());
  EXPECT_EQ(heap_.report_damage(), 0u);
  EXPECT_FALSE(heap_.validate());
}

TEST_F(Guarded, LeavesAloneWhatIsNotItsOwn) {
  std::byte* const p = take(48, 8);
  int foreign = 7;
  heap_.deallocate(&foreign, sizeof foreign, alignof(int));
  heap_.deallocate(p + 8, 40, 8);
  EXPECT_EQ(seen_.size(), 2u);
  EXPECT_EQ(foreign, 7);
  EXPECT_EQ(out_upstream(), 1u);
  EXPECT_EQ(heap_.usable_size(p), 48u);
}

TEST_F(Guarded, EndsABlockAsItWasTakenWhateverIsSaid) {
  heap_.set_quarantine(0);
  heap_.deallocate(take(48, 8), 50, 16);
  EXPECT_EQ(seen_.size(), 2u);
  EXPECT_EQ(heap_.upstream().statistics().received.live, 0u);
  EXPECT_EQ(heap_.usage(), heap_usage{});
}

TEST_F(Guarded, KeepsFreedBlocksUpToABoundOldestLeaveFirst) {
  std::vector<std::byte*> all;
  for (int i = 0; i < 10; ++i) all.push_back(take(100, 8));
  const std::size_t each = heap_.usage().held / 10;
  heap_.set_quarantine(3 * each + 1);
  for (std::byte* p : all) heap_.deallocate(p, 100, 8);
  EXPECT_EQ(heap_.usage(), (heap_usage{3 * each, 0, 0}));
  EXPECT_EQ(out_upstream(), 3u);
  EXPECT_FALSE(heap_.owns(all[6]));
  EXPECT_TRUE(heap_.owns(all[7]));
  heap_.set_quarantine(each);
  EXPECT_EQ(out_upstream(), 1u);
  EXPECT_EQ(heap_.trim(0), each);
  EXPECT_EQ(out_upstream(), 0u);
}

TEST_F(Guarded, GivesUpItsQuarantineBeforeItGivesUp) {
  guarded<limited<multipool>> tight(byte_limit{1000});
  const block a = tight.allocate(500, 8);
  ASSERT_TRUE(a);
  tight.deallocate(a.data, 500, 8);
  EXPECT_GT(tight.usage().held, 500u);
  const block b = tight.allocate(600, 8);
  ASSERT_TRUE(b);
  EXPECT_FALSE(tight.allocate(600, 8));
  tight.deallocate(b.data, 600, 8);
}

TEST_F(Guarded, LooksAtWhatReleaseEnds) {
  take(48, 8)[48] = std::byte{0};
  heap_.release();
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].what, misuse::written_behind);
  EXPECT_EQ(heap_.usage(), heap_usage{});
  EXPECT_EQ(out_upstream(), 0u);
  EXPECT_TRUE(heap_.upstream().upstream().usage() == heap_usage{});
}

TEST_F(Guarded, LooksAtWhatClearEndsAndLetsTheUpstreamKeepItsChunks) {
  take(48, 8)[48] = std::byte{0};
  heap_.clear();
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(heap_.usage(), heap_usage{});
  EXPECT_EQ(out_upstream(), 0u);
  EXPECT_GT(heap_.upstream().upstream().upstream().usage().held, 0u);
}

TEST_F(Guarded, GivesBlocksOfAPoolThatHasRoomForTheCanaries) {
  guarded<pool> given(std::size_t{96});
  EXPECT_TRUE(given.allocate(64, 16));
  EXPECT_FALSE(given.allocate(65, 16));
  guarded<pool> adopting;
  EXPECT_TRUE(adopting.allocate(64, 16));
}

TEST_F(Guarded, CarriesContainersThatDoNothingWrong) {
  resource<guarded<monotonic>> memory;
  std::pmr::vector<std::pmr::string> lines(&memory);
  for (int i = 0; i < 100; ++i) lines.emplace_back("a line that is too long for a small string");
  lines.resize(20);
  EXPECT_EQ(memory.heap().report_damage(), 0u);
}

TEST(GuardedDeathTest, PrintsWhatHappenedAndAborts) {
  guarded<multipool> heap;
  const block b = heap.allocate(48, 8);
  EXPECT_DEATH(heap.deallocate(b.data, 40, 8),
               "mallard: guarded: deallocate with a wrong size: 48 bytes aligned to 8 at .*\n"
               "    given back as 40 bytes aligned to 8\n    now:\n");
}

}  // namespace
}  // namespace mallard
