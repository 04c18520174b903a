#include "mallard/layer/segment_slabs.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace mallard {
namespace {

using slabs = segment_slabs<segments>;
constexpr std::size_t size = 48;
constexpr std::size_t index = slabs::classes::index(size, 1);
constexpr std::size_t capacity = segments::segment_bytes / size;
constexpr std::size_t page = 4096;

class SegmentSlabs : public testing::Test {
 protected:
  ~SegmentSlabs() override {
    const violation v = slabs_.validate();
    EXPECT_FALSE(v) << v.what;
    slabs_.release();
    from_.close();
  }

  void* take(std::size_t of_class = index) {
    void* const at_hand = slabs_.take_of_class(of_class);
    return at_hand != nullptr ? at_hand : slabs_.refill(of_class);
  }
  std::vector<void*> take_many(std::size_t count) {
    std::vector<void*> result(count);
    for (void*& p : result) p = take();
    return result;
  }
  void free(void* p) { slabs_.free(*from_.find_part(p), p); }
  std::size_t slab_count() { return slabs_.usage().held / segments::segment_bytes; }
  static std::byte* bytes(void* p) { return static_cast<std::byte*>(p); }
#if !MALLARD_ADDRESS_SANITIZED
  // Of the slab that a block lies in.
  std::ptrdiff_t resident_pages(void* p) {
    std::array<unsigned char, segments::segment_bytes / page> resident{};
    EXPECT_EQ(::mincore(from_.start_of(from_.find(p)), segments::segment_bytes, resident.data()), 0);
    return std::ranges::count_if(resident, [](unsigned char r) { return (r & 1) != 0; });
  }
#endif

  segments from_;
  slabs slabs_{from_, this};
};

TEST_F(SegmentSlabs, NewBlocksFollowEachOther) {
  const std::vector<void*> blocks = take_many(capacity);
  for (std::size_t i = 1; i != blocks.size(); ++i) EXPECT_EQ(bytes(blocks[i]), bytes(blocks[i - 1]) + size);
  EXPECT_EQ(slab_count(), 1u);
  take();
  EXPECT_EQ(slab_count(), 2u);
}

TEST_F(SegmentSlabs, EachSizeHasItsClassAndEachClassASlabOfItsOwn) {
  for (std::size_t n = 0; n <= slabs::small; ++n) {
    const std::size_t c = slabs::classes::index(n, 1);
    void* const first = take(c);
    free(first);
    EXPECT_EQ(slabs_.take_at_hand(n), first) << n;
    EXPECT_EQ(from_.find(first)->size, slabs::classes::size(c));
    free(first);
  }
  EXPECT_EQ(slab_count(), slabs::classes::index(slabs::small, 1) + 1);
}

TEST_F(SegmentSlabs, BlocksOfSlabsBesideThemAreEndedWithoutALookAtWhich) {
  slabs other(from_, this);
  void* const own = take();
  void* const beside = other.refill(index);
  EXPECT_NE(from_.find(own), from_.find(beside));
  free(beside);
  EXPECT_EQ(other.usage().granted, 0u);
  EXPECT_EQ(slabs_.usage().granted, size);
  EXPECT_EQ(other.take_of_class(index), beside);
  std::vector<void*> more(3 * capacity);  // of slabs that are full, listed and given back
  for (void*& p : more)
    if ((p = other.take_of_class(index)) == nullptr) p = other.refill(index);
  for (void* p : more) free(p);
  free(beside);
  EXPECT_FALSE(other.validate());
  EXPECT_EQ(other.usage().held, segments::segment_bytes);
  EXPECT_EQ(other.usage().granted, 0u);
  other.release();
  free(own);
}

TEST_F(SegmentSlabs, AnEmptySlabOfMoreThanAPageGoesBackWhereNoneIsKept) {
  slabs lean(from_, this, false);
  const auto fill_and_empty = [&](std::size_t count) {
    std::vector<void*> blocks(count);
    for (void*& p : blocks)
      if ((p = lean.take_of_class(index)) == nullptr) p = lean.refill(index);
    for (void* p : blocks) free(p);
    EXPECT_FALSE(lean.validate());
    return lean.usage().held / segments::segment_bytes;
  };
  EXPECT_EQ(fill_and_empty(page / size), 1u);
  EXPECT_EQ(fill_and_empty(capacity / 2), 0u);
  EXPECT_EQ(fill_and_empty(3 * capacity), 0u);
  EXPECT_EQ(slab_count(), 0u);
  take_many(capacity / 2);
  for (void* p : take_many(10)) free(p);
  EXPECT_EQ(slab_count(), 1u);
}

TEST_F(SegmentSlabs, SlabsMayBePartsOfSegments) {
  slabs small(from_, this, false, slabs::extent::part);
  constexpr std::size_t capacity_of_part = segments::part_bytes / size;
  std::vector<void*> blocks(4 * capacity_of_part + 1);
  for (void*& p : blocks) {
    if ((p = small.take_of_class(index)) == nullptr) p = small.refill(index);
    std::memset(p, 1, size);
  }
  EXPECT_EQ(small.usage().held, 5 * segments::part_bytes);
  EXPECT_EQ(from_.usage().used, 2 * segments::segment_bytes);
  for (std::size_t i = 0; i != blocks.size(); ++i)
    EXPECT_EQ(from_.find_part(blocks[i]), from_.find_part(blocks[i / capacity_of_part * capacity_of_part]));
  for (std::size_t i = 0; i != capacity_of_part; ++i) free(blocks[i]);
  EXPECT_EQ(small.usage().held, 4 * segments::part_bytes);
  EXPECT_FALSE(small.validate());
  for (std::size_t i = capacity_of_part; i != blocks.size(); ++i) free(blocks[i]);
  small.trim(0);
  EXPECT_EQ(small.usage().held, 0u);
  EXPECT_EQ(from_.usage().used, 0u);
}

TEST_F(SegmentSlabs, AFreedBlockIsTheNextOne) {
  const std::vector<void*> blocks = take_many(10);
  free(blocks[3]);
  free(blocks[7]);
  EXPECT_EQ(take(), blocks[7]);
  EXPECT_EQ(take(), blocks[3]);
}

#if !MALLARD_ADDRESS_SANITIZED
TEST_F(SegmentSlabs, APageThatIsNotNeededIsNotTouched) {
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // a huge page is touched as a whole
  void* const first = take();
  EXPECT_EQ(resident_pages(first), 1);
  for (int i = 0; i != 10000; ++i) free(take());  // one block at a time takes no more
  EXPECT_EQ(resident_pages(first), 1);
  take_many(2 * page / size);
  EXPECT_EQ(resident_pages(first), 3);
  ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

// Two full slabs, of which the first keeps the block in its middle.
TEST_F(SegmentSlabs, PagesBetweenBlocksGoBackAndAreCarvedAnew) {
  for (const std::size_t c : {index, slabs::classes::index(1280, 1), slabs::classes::index(3072, 1),
                              slabs::classes::index(10240, 1)}) {
    const std::size_t count = segments::segment_bytes / slabs::classes::size(c);
    std::vector<void*> blocks(count);
    for (void*& p : blocks) std::memset(p = take(c), 1, slabs::classes::size(c));
    void* const kept = blocks[count / 2];
    void* const next = take(c);
    for (void* p : blocks)
      if (p != kept) free(p);
    EXPECT_GE(resident_pages(kept), 15);
    (void)slabs_.trim(0);
    const std::size_t used = slabs::classes::size(c) <= page ? 2 : slabs::classes::size(c) / page + 2;
    EXPECT_LE(resident_pages(kept), static_cast<std::ptrdiff_t>(used));
    EXPECT_FALSE(slabs_.validate());
    EXPECT_EQ(*static_cast<unsigned char*>(kept), 1);
    std::vector<void*> again = {kept};
    for (std::size_t i = 0; i != 3 * count && again.size() != count; ++i) {
      void* const p = take(c);
      if (from_.find(p) == from_.find(kept)) std::memset(p, 1, slabs::classes::size(c)), again.push_back(p);
    }
    std::ranges::sort(again);
    EXPECT_EQ(again, blocks) << slabs::classes::size(c);
    EXPECT_FALSE(slabs_.validate());
    (void)next;
  }
}

// Slabs of a class that each keep a block, while another class needs new memory.
TEST_F(SegmentSlabs, WhatIsNoLongerAskedForMakesRoomWhereMemoryGrows) {
  constexpr std::size_t count = 64;
  std::vector<void*> kept;
  std::vector<void*> others;
  for (std::size_t i = 0; i != count * 64; ++i) {
    (i % 64 == 0 ? kept : others).push_back(take(slabs::classes::index(1024, 1)));
    std::memset(i % 64 == 0 ? kept.back() : others.back(), 1, 1024);
  }
  for (void* p : others) free(p);
  const auto resident = [&] {
    std::ptrdiff_t sum = 0;
    for (void* p : kept) sum += resident_pages(p);
    return sum;
  };
  EXPECT_EQ(resident(), 64 * 16);
  for (std::size_t i = 0; i != count * 32; ++i) std::memset(take(slabs::classes::index(2048, 1)), 1, 2048);
  EXPECT_LE(resident(), 64 + 16) << "but for the slab at hand";
  for (void* p : kept) EXPECT_EQ(*static_cast<unsigned char*>(p), 1);
}
#endif

TEST_F(SegmentSlabs, AnEmptiedSlabStartsAnewInOrder) {
  std::vector<void*> blocks = take_many(500);
  std::ranges::shuffle(blocks, std::mt19937(1));
  for (void* p : blocks) free(p);
  EXPECT_EQ(slab_count(), 1u);
  const std::vector<void*> again = take_many(500);
  EXPECT_TRUE(std::ranges::is_sorted(again));
  EXPECT_EQ(again.front(), *std::ranges::min_element(blocks));
}

TEST_F(SegmentSlabs, ALargeBlockThatWasTheOnlyOneIsAtHandAgain) {
  for (const std::size_t bytes : {1280u, 4096u, 5120u, 32768u}) {
    const std::size_t c = slabs::classes::index(bytes, 1);
    std::array<void*, 2> blocks{take(c), take(c)};
    for (int times = 0; times != 3; ++times) {
      free(blocks[0]), free(blocks[1]);
      EXPECT_EQ(slabs_.take_of_class(c), blocks[1]) << bytes;
      EXPECT_EQ(slabs_.take_of_class(c), blocks[0]) << bytes;
      std::ranges::reverse(blocks);
      EXPECT_FALSE(slabs_.validate());
    }
    free(blocks[0]), free(blocks[1]);
    EXPECT_EQ(slab_count(), 1u) << "the class keeps it";
    EXPECT_EQ(slabs_.trim(0), segments::segment_bytes);
  }
}

TEST_F(SegmentSlabs, ASlabOfLargeBlocksWithFreeOnesGoesBeforeAnEmptyOne) {
  const std::size_t c = slabs::classes::index(32768, 1);
  void* const first = take(c);
  void* const second = take(c);
  void* const alone = take(c);
  EXPECT_EQ(slab_count(), 2u);
  free(first);
  free(alone);
  EXPECT_EQ(take(c), first);
  EXPECT_EQ(slab_count(), 1u) << "the empty one has gone back";
  free(first), free(second);
}

TEST_F(SegmentSlabs, LargeBlocksWhosePagesWentBackStayWithAnEmptiedSlab) {
  const std::size_t c = slabs::classes::index(10240, 1);
  const std::size_t count = segments::segment_bytes / slabs::classes::size(c);
  const auto take_some = [&](std::size_t many) {
    std::vector<void*> blocks(many);
    for (void*& p : blocks) {
      std::memset(p = take(c), 1, slabs::classes::size(c));
      EXPECT_FALSE(slabs_.validate());
    }
    return blocks;
  };
  std::vector<void*> first = take_some(count);
  void* const other = take_some(1).front();
  while (first.size() != 1) free(first.back()), first.pop_back();
  (void)slabs_.trim(0);  // gives the pages of the first slab back
  first.push_back(take_some(1).front());
  EXPECT_EQ(from_.find(first[0]), from_.find(first[1]));
  for (void* p : first) free(p);
  EXPECT_FALSE(slabs_.validate());
  first = take_some(count);
  EXPECT_EQ(slab_count(), 2u);
  std::ranges::sort(first);
  EXPECT_EQ(std::ranges::adjacent_find(first), first.end());
  EXPECT_EQ(from_.find(take_some(1).front()), from_.find(other));
  for (void* p : first) free(p);
}

TEST_F(SegmentSlabs, AFullSlabComesBackWhenASixteenthIsFree) {
  const std::vector<void*> first = take_many(capacity);
  take();
  std::size_t freed = 0;
  for (; freed != capacity / 16 - 1; ++freed) free(first[freed]);
  take_many(capacity - 1);  // the second slab is full
  take();
  EXPECT_EQ(slab_count(), 3u) << "a slab came back too early";
  free(first[freed]);
  take_many(page / size - 1);  // what the third slab has at hand
  EXPECT_EQ(take(), first[freed]);
}

TEST_F(SegmentSlabs, AnEmptySlabGoesBackForAnyClass) {
  const std::vector<void*> first = take_many(capacity);
  take();
  for (void* p : first) free(p);
  EXPECT_EQ(slab_count(), 1u);
  EXPECT_EQ(from_.usage().dirty, segments::segment_bytes);
  void* const other = take(index + 20);
  EXPECT_EQ(from_.find(other), from_.find(first.front()));
  EXPECT_EQ(from_.usage().dirty, 0u);
}

TEST_F(SegmentSlabs, SlabsWithRoomForNewBlocksAreFilledBeforeAnotherIsTaken) {
  const std::vector<void*> first = take_many(capacity);
  take_many(10);  // of a second one
  for (std::size_t i = 0; i != capacity / 16; ++i) free(first[i]);
  take_many(page / size + capacity / 16);
  take_many(capacity - page / size - 10);
  EXPECT_EQ(slab_count(), 2u);
  take();
  EXPECT_EQ(slab_count(), 3u);
}

TEST_F(SegmentSlabs, TrimGivesBackWhatNobodyUses) {
  void* const kept = take();
  free(take(index + 1));
  free(take(index + 2));
  EXPECT_EQ(slabs_.trim(segments::segment_bytes), segments::segment_bytes);
  EXPECT_EQ(slabs_.trim(0), segments::segment_bytes);
  EXPECT_EQ(slab_count(), 1u);
  EXPECT_NE(take(index + 1), nullptr);
  free(kept);
}

TEST_F(SegmentSlabs, ACircleOfFreeBlocksIsFound) {
  void* const a = take();
  void* const b = take();
  free(b), free(a);
  void* const link = *static_cast<void**>(b);
  *static_cast<void**>(b) = a;
  EXPECT_TRUE(slabs_.validate());
  *static_cast<void**>(b) = link;
  EXPECT_FALSE(slabs_.validate());
}

TEST_F(SegmentSlabs, RandomUseKeepsCountsAndContents) {
  std::mt19937 random(7);
  std::vector<std::pair<unsigned char*, std::size_t>> live;
  for (int step = 0; step != 60000; ++step) {
    const bool grows = (step / 10000) % 2 == 0;
    if (live.empty() || random() % 16 < (grows ? 10u : 5u)) {
      const std::size_t c = random() % slabs::classes::count;
      auto* const p = static_cast<unsigned char*>(take(c));
      ASSERT_NE(p, nullptr);
      std::memset(p, static_cast<int>(c), slabs::classes::size(c));
      live.emplace_back(p, c);
    } else {
      std::swap(live[random() % live.size()], live.back());
      const auto [p, c] = live.back();
      live.pop_back();
      EXPECT_TRUE(p[0] == c && p[slabs::classes::size(c) - 1] == c);
      free(p);
    }
    if (step % 997 == 0) (void)slabs_.trim(0);
    if (step % 5000 == 0) {
      const violation v = slabs_.validate();
      ASSERT_FALSE(v) << v.what;
    }
  }
}

}  // namespace
}  // namespace mallard
