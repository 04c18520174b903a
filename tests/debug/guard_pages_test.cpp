#include "mallard/debug/guard_pages.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <memory_resource>
#include <vector>

#include "mallard/core/concepts.hpp"
#include "mallard/resource/resource.hpp"
#include "source/taken_mappings.hpp"

namespace mallard {
namespace {

static_assert(heap<guard_pages> && predictable<guard_pages> && measurable<guard_pages> &&
              owning<guard_pages>);
static_assert(releasable<guard_pages> && trimmable<guard_pages> && inspectable<guard_pages>);

class GuardPages : public testing::Test {
 protected:
  std::byte* take(std::size_t size, std::size_t align) {
    return static_cast<std::byte*>(heap_.allocate(size, align).data);
  }
  void record() {
    heap_.table().set_handler(
        [](const misuse_report& r, void* seen) { static_cast<GuardPages*>(seen)->seen_.push_back(r); }, this);
  }

  std::vector<misuse_report> seen_;
  guard_pages heap_;
};

TEST_F(GuardPages, EndBlocksAtTheirPagesEndAsFarAsTheAlignmentAllows) {
  const std::size_t page = os_pages::page_size();
  for (const std::size_t size : {1u, 7u, 48u, 4095u, 4096u, 4097u, 20000u})
    for (std::size_t align = 1; align <= page; align *= 2) {
      std::byte* const p = take(size, align);
      EXPECT_TRUE(is_aligned(p, align));
      EXPECT_LT(padding_for(p + size, page), align);
      std::memset(p, 1, size);
      heap_.deallocate(p, size, align);
    }
}

TEST_F(GuardPages, GiveAStricterAlignmentThanAPages) {
  for (std::size_t align = 8192; align <= 65536; align *= 2) {
    std::byte* const p = take(100, align);
    EXPECT_TRUE(is_aligned(p, align));
    std::memset(p, 1, 100);
    heap_.deallocate(p, 100, align);
  }
}

TEST_F(GuardPages, SeeAWriteThatHitsNoGuard) {
  record();
  std::byte* const p = take(44, 8);
  p[44] = p[-1] = std::byte{0};
  EXPECT_TRUE(heap_.validate());
  heap_.deallocate(p, 44, 8);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].what, misuse::written_before);
  EXPECT_EQ(seen_[0].pointer, p - 1);
  EXPECT_EQ(seen_[1].what, misuse::written_behind);
  EXPECT_EQ(seen_[1].pointer, p + 44);
}

TEST_F(GuardPages, KeepFreedBlocksInABoundedQuarantineOldestFirst) {
  record();
  heap_.set_quarantine(40000);
  std::vector<std::byte*> all;
  for (int i = 0; i < 10; ++i) all.push_back(take(100, 8));
  const std::size_t each = heap_.usage().held / 10;
  for (std::byte* p : all) heap_.deallocate(p, 100, 8);
  EXPECT_EQ(heap_.usage().held, 40000 / each * each);
  EXPECT_EQ(heap_.block_at(all[0]), nullptr);
  ASSERT_NE(heap_.block_at(all[9]), nullptr);
  EXPECT_FALSE(heap_.block_at(all[9])->live);
  EXPECT_EQ(heap_.trim(0), 40000 / each * each);
  EXPECT_EQ(heap_.usage(), heap_usage{});
}

TEST_F(GuardPages, TellWhatBlockAnAddressBelongsTo) {
  std::byte* const p = take(48, 16);
  const std::size_t page = os_pages::page_size();
  ASSERT_NE(heap_.block_at(p), nullptr);
  EXPECT_EQ(heap_.block_at(p)->data, p);
  EXPECT_EQ(heap_.block_at(p + 48), heap_.block_at(p)) << "the page behind";
  EXPECT_EQ(heap_.block_at(p - page), heap_.block_at(p)) << "the page in front";
  EXPECT_EQ(heap_.block_at(&heap_), nullptr);
  EXPECT_EQ(heap_.usable_size(p), 48u);
  heap_.deallocate(p, 48, 16);
  EXPECT_EQ(heap_.usable_size(p), 0u);
}

TEST_F(GuardPages, CarryAContainer) {
  resource<guard_pages> memory;
  std::pmr::vector<int> numbers(&memory);
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  EXPECT_EQ(numbers[999], 999);
}

TEST_F(GuardPages, LookAtTheCanariesOfLiveBlocks) {
  record();
  std::byte* const p = take(44, 8);
  std::byte* const q = take(44, 8);
  p[44] = std::byte{0};
  EXPECT_EQ(heap_.report_damage(), 1u);
  EXPECT_EQ(heap_.report_damage(), 0u) << "reported once";
  q[-1] = std::byte{0};
  heap_.release();
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].what, misuse::written_behind);
  EXPECT_EQ(seen_[0].pointer, p + 44);
  EXPECT_EQ(seen_[1].what, misuse::written_before);
  EXPECT_EQ(seen_[1].pointer, q - 1);
}

bool is_mapped(void* p) {
  unsigned char resident = 0;
  const std::uintptr_t in_page = address_of(p) & (os_pages::page_size() - 1);
  return ::mincore(static_cast<std::byte*>(p) - in_page, 1, &resident) == 0;
}

TEST_F(GuardPages, KeepWhatTheKernelDoesNotTakeAtItsLimitOfMappings) {
  std::array<std::byte*, 300> all{};
  std::size_t count = 0;
  std::size_t held = 0;
  std::size_t returned = 0;
  heap_usage left;
  heap_.deallocate(take(48, 8), 48, 8);  // what happens once
  heap_.trim(0);
  std::vector<std::byte*> lost;
  lost.reserve(all.size());
  {
    const taken_mappings nearly_all(400);
    while (count < all.size() && (all[count] = take(48, 8)) != nullptr) ++count;
    for (std::size_t i = 0; i < count; ++i)
      if (i % 10 != 0) heap_.deallocate(all[i], 48, 8);
    std::array<std::byte*, 300> more{};
    std::size_t taken = 0;
    heap_.set_quarantine(SIZE_MAX);
    while (taken < more.size() && (more[taken] = take(48, 8)) != nullptr) ++taken;
    held = heap_.usage().held;
    returned = heap_.trim(0);
    left = heap_.usage();
    for (std::size_t i = 0; i < taken; ++i) heap_.deallocate(more[i], 48, 8);
    for (std::size_t i = 0; i < count; ++i)
      if (heap_.block_at(all[i]) == nullptr && is_mapped(all[i])) lost.push_back(all[i]);
  }
  EXPECT_LT(count, all.size()) << "the limit was reached";
  EXPECT_EQ(left.held, held - returned);
  EXPECT_TRUE(lost.empty()) << lost.size() << " blocks have been forgotten that are mapped";
  heap_.release();
  EXPECT_EQ(heap_.usage(), heap_usage{});
  for (std::size_t i = 0; i < count; ++i) EXPECT_FALSE(is_mapped(all[i]));
}

using GuardPagesDeathTest = GuardPages;

TEST_F(GuardPagesDeathTest, FaultBehindInFrontOfAndAfterABlock) {
  volatile std::byte* const p = take(48, 16);
  EXPECT_DEATH(p[48] = std::byte{0}, "");
  EXPECT_DEATH((void)p[48], "");
  EXPECT_DEATH((void)*(p - os_pages::page_size()), "");
  heap_.deallocate(const_cast<std::byte*>(p), 48, 16);
  EXPECT_DEATH((void)p[0], "");
}

TEST_F(GuardPagesDeathTest, PrintAndAbortWhenABlockIsGivenBackTwice) {
  std::byte* const p = take(48, 16);
  heap_.deallocate(p, 48, 16);
  EXPECT_DEATH(heap_.deallocate(p, 48, 16), "mallard: guard_pages: double free: 48 bytes aligned to 16");
}

}  // namespace
}  // namespace mallard
