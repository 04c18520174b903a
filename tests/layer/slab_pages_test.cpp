#include "mallard/layer/slab_pages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>
#include <vector>

namespace mallard {
namespace {

// Notes what is given back, and spoils it.
struct noted {
  static constexpr std::size_t segment_bytes = 65536;
  static inline std::vector<std::pair<std::size_t, std::size_t>> given;  // pages: the first, and how many
  static inline std::byte* start = nullptr;

  static void purge_pages(std::byte* from, std::size_t bytes) {
    given.emplace_back(static_cast<std::size_t>(from - start) / 4096, bytes / 4096);
    std::fill(from, from + bytes, std::byte{0xff});
  }
};
using pages = slab_pages<noted>;

class SlabPages : public testing::Test {
 protected:
  // A slab of blocks of `size` bytes, of which the first `carved` are free but for those that are `used`.
  void make(std::size_t size, std::size_t carved, const std::set<std::size_t>& used) {
    noted::start = memory_.data();
    noted::given.clear();
    slab_ = {};
    slab_.size = static_cast<std::uint32_t>(size);
    slab_.carved = static_cast<std::uint16_t>(carved);
    slab_.capacity = static_cast<std::uint16_t>(noted::segment_bytes / size);
    for (std::size_t b = 0; b != carved; ++b)
      if (!used.contains(b)) free(b);
  }
  void free(std::size_t b) {
    void* const p = memory_.data() + b * slab_.size;
    *static_cast<void**>(p) = slab_.free;
    slab_.free = p;
  }
  void give() { pages::give(slab_, memory_.data(), slab_.carved - listed().size() - pages::blocks(slab_)); }
  // Numbers of the blocks in the free list.
  std::set<std::size_t> listed() const {
    std::set<std::size_t> found;
    for (const void* p = slab_.free; p != nullptr; p = *static_cast<void* const*>(p))
      found.insert(static_cast<std::size_t>(static_cast<const std::byte*>(p) - memory_.data()) / slab_.size);
    return found;
  }
  using runs = std::vector<std::pair<std::size_t, std::size_t>>;

  alignas(4096) std::array<std::byte, noted::segment_bytes> memory_{};
  segment slab_;
};

TEST_F(SlabPages, ThoseWithoutABlockInUseAreGivenBack) {
  make(1024, 64, {5, 40});
  give();
  EXPECT_EQ(noted::given, (runs{{0, 1}, {2, 8}, {11, 5}}));
  EXPECT_EQ(listed(), (std::set<std::size_t>{4, 6, 7, 41, 42, 43}));
  EXPECT_EQ(pages::blocks(slab_), 64u - 8);
}

TEST_F(SlabPages, ABlockTouchesThePagesThatItReachesInto) {
  make(3072, 21, {5});  // from 15360 to 18432: the end of page 3, and page 4
  give();
  EXPECT_EQ(noted::given, (runs{{0, 3}, {5, 11}}));
  EXPECT_EQ(listed(), (std::set<std::size_t>{4, 6})) << "free blocks that begin in pages 3 and 4";
}

TEST_F(SlabPages, ABlockOfManyPagesKeepsOnlyTheFirstOne) {
  make(12288, 5, {0, 3});
  give();
  EXPECT_EQ(noted::given, (runs{{3, 6}, {12, 3}}));
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(pages::blocks(slab_), 3u);
}

TEST_F(SlabPages, WhatWasNeverCarvedIsNotTouched) {
  make(1024, 8, {0});
  give();
  EXPECT_EQ(noted::given, (runs{{1, 1}}));
}

TEST_F(SlabPages, ThoseThatAreGivenAreNotGivenAgain) {
  make(512, 128, {0, 127});
  give();
  noted::given.clear();
  give();
  EXPECT_EQ(noted::given, runs{});
  free(127);
  give();
  EXPECT_EQ(noted::given, (runs{{15, 1}}));
}

TEST_F(SlabPages, ASlabIsSparseOnceMoreWithHalfOfItsBlocks) {
  make(1024, 64, {1, 20, 40, 60});
  EXPECT_FALSE(pages::is_sparse(slab_, 17)) << "more than there are pages";
  EXPECT_TRUE(pages::is_sparse(slab_, 4));
  give();
  EXPECT_FALSE(pages::is_sparse(slab_, 3));
  EXPECT_TRUE(pages::is_sparse(slab_, 2));
  pages::look_again(slab_);
  EXPECT_TRUE(pages::is_sparse(slab_, 3));
  make(12288, 5, {0, 1, 2});
  EXPECT_FALSE(pages::is_sparse(slab_, 3)) << "more than half";
}

TEST_F(SlabPages, EachBlockIsTakenOnceMore) {
  for (const std::size_t size : {64u, 1280u, 3072u, 12288u}) {
    const std::size_t all = noted::segment_bytes / size;
    make(size, all, {all / 2});
    give();
    std::set<std::size_t> found = listed();
    found.insert(all / 2);
    while (pages::any(slab_)) {
      const auto [first, end] = pages::take(slab_);
      EXPECT_LT(first, end);
      for (std::size_t b = first; b != end; ++b) EXPECT_TRUE(found.insert(b).second) << b;
    }
    EXPECT_EQ(found.size(), all) << size;
  }
}

}  // namespace
}  // namespace mallard
