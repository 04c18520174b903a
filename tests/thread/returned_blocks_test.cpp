#include "mallard/thread/returned_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "mallard/core/align.hpp"

namespace mallard {
namespace {

using slot = magazine::slot;

// Blocks of one size, filled with a pattern.
class some_blocks {
 public:
  some_blocks(std::size_t count, std::size_t size)
      : size_(size), memory_(count * size / sizeof(slot), mark) {}

  [[nodiscard]] std::vector<slot> all() {
    std::vector<slot> found;
    for (std::size_t i = 0; i < memory_.size(); i += size_ / sizeof(slot))
      found.push_back(address_of(&memory_[i]));
    return found;
  }

  [[nodiscard]] std::size_t touched() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < memory_.size(); i += size_ / sizeof(slot))
      count += static_cast<std::size_t>(memory_[i] != mark || memory_[i + 1] != mark);
    return count;
  }

 private:
  static constexpr slot mark = 0x5a5a5a5a;

  std::size_t size_;
  std::vector<slot> memory_;
};

// Takes `most` at a time.
std::vector<slot> taken_from(carried_blocks& blocks, std::size_t most) {
  std::vector<slot> found;
  std::array<slot, 32> taken;
  for (std::size_t count = 0; (count = blocks.take(taken.data() + taken.size(), most)) != 0;)
    found.insert(found.end(), taken.end() - static_cast<std::ptrdiff_t>(count), taken.end());
  return found;
}

TEST(ReturnedBlocks, AllComeBackOnceWhateverTheirSizeAndHoweverManyAreTaken) {
  for (const std::size_t size : {16u, 24u, 48u, 128u, 4096u})
    for (const std::size_t count : {1u, 2u, 5u, 16u, 32u})
      for (const std::size_t most : {1u, 3u, 32u}) {
        some_blocks blocks(count, size);
        std::vector<slot> expected = blocks.all();
        carried_blocks given;
        given.push(expected, size);
        returned_blocks returned;
        returned.push(given);
        carried_blocks taken;
        returned.take_all(taken);
        EXPECT_TRUE(returned.empty());
        std::vector<slot> found = taken_from(taken, most);
        std::ranges::sort(found);
        EXPECT_EQ(found, expected) << count << " of " << size << " bytes, " << most << " at a time";
        EXPECT_TRUE(taken.empty());
      }
}

TEST(ReturnedBlocks, OnlyCarriersAreTouched) {
  for (const auto [size, carriers] : {std::array<std::size_t, 2>{16, 16}, {48, 4}, {128, 2}, {256, 1}}) {
    some_blocks blocks(16, size);
    carried_blocks given;
    given.push(blocks.all(), size);
    EXPECT_EQ(blocks.touched(), carriers) << size;
  }
}

TEST(ReturnedBlocks, WhatSeveralHavePushedIsTakenTogether) {
  some_blocks blocks(30, 48);
  const std::vector<slot> all = blocks.all();
  returned_blocks returned;
  for (std::size_t i = 0; i < all.size(); i += 10) {
    carried_blocks given;
    given.push(std::span(all).subspan(i, 10), 48);
    returned.push(given);
  }
  std::set<const void*> seen;
  returned.peek().for_each(48, [&](const void* p) { return seen.insert(p).second; });
  EXPECT_EQ(seen.size(), 30u);
  carried_blocks taken;
  returned.take_all(taken);
  EXPECT_EQ(taken_from(taken, 32).size(), 30u);
  returned.take_all(taken);
  EXPECT_TRUE(taken.empty());
}

TEST(ReturnedBlocks, AWalkEndsWhenItIsToldTo) {
  some_blocks blocks(20, 48);
  carried_blocks given;
  given.push(blocks.all(), 48);
  for (int end = 1; end <= 20; ++end) {
    int seen = 0;
    given.for_each(48, [&](const void*) { return ++seen != end; });
    EXPECT_EQ(seen, end);
  }
}

TEST(ReturnedBlocks, ThreadsPushWhileAnotherTakes) {
  constexpr std::size_t each = 20000;
  constexpr std::size_t size = 48;
  std::vector<some_blocks> blocks(3, some_blocks(each, size));
  returned_blocks returned;
  std::atomic<int> at_work = 3;
  std::vector<std::thread> threads;
  for (some_blocks& b : blocks)
    threads.emplace_back([&] {
      const std::vector<slot> all = b.all();
      for (std::size_t i = 0; i < all.size(); i += 8) {
        carried_blocks given;
        given.push(std::span(all).subspan(i, 8), size);
        returned.push(given);
      }
      --at_work;
    });
  std::vector<slot> found;
  for (bool last = false; !last;) {
    last = at_work == 0;
    carried_blocks taken;
    returned.take_all(taken);
    const std::vector<slot> more = taken_from(taken, 5);
    found.insert(found.end(), more.begin(), more.end());
  }
  for (std::thread& t : threads) t.join();
  std::ranges::sort(found);
  EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
  EXPECT_EQ(found.size(), 3 * each);
}

TEST(ReturnedLarge, EachComesBackWithItsSizeAndAlignment) {
  alignas(16) std::array<std::array<std::byte, 32>, 3> blocks;
  returned_large returned;
  EXPECT_TRUE(returned.empty());
  for (std::size_t i = 0; i < blocks.size(); ++i) returned.push(&blocks[i], 100 + i, std::size_t{8} << i);
  EXPECT_FALSE(returned.empty());
  std::size_t left = blocks.size();
  returned.take_all([&](void* p, std::size_t size, std::size_t align) {
    --left;
    EXPECT_EQ(p, &blocks[left]);
    EXPECT_EQ(size, 100 + left);
    EXPECT_EQ(align, std::size_t{8} << left);
    std::memset(p, 0xdd, 32);  // it may be used at once
  });
  EXPECT_EQ(left, 0u);
  EXPECT_TRUE(returned.empty());
}

}  // namespace
}  // namespace mallard
