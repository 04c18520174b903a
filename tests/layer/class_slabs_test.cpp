#include "mallard/layer/class_slabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "mallard/core/growth.hpp"
#include "mallard/layer/shared_chunks.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

constexpr std::size_t slab_bytes = 1024;
constexpr std::size_t size = 48;
constexpr std::size_t index = 5;
constexpr std::size_t capacity = class_slab<slab_bytes>::capacity_of(size);
static_assert(capacity == 19);

class ClassSlabs : public testing::Test {
 protected:
  using memory = shared_chunks<fixed_buffer, constant<4 * slab_bytes>>;
  using slab = class_slab<slab_bytes>;
  using slot = magazine::slot;

  // Blocks in the order in which a magazine returns them; fewer when no slab can be had.
  std::vector<slot> take(std::size_t count) {
    std::vector<slot> found(count);
    std::size_t taken = 0;
    do taken += class_.take(found.data() + count - taken, count - taken, size);
    while (taken != count && class_.add(index, size, slabs_));
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(taken));
    std::ranges::reverse(found);
    return found;
  }
  void put(std::span<const slot> blocks) { class_.put(blocks, slabs_, nullptr, 0, outside_); }
  static slab* slab_of(slot block) { return slab::of(reinterpret_cast<void*>(block)); }
  void expect_valid() {
    memory_.for_each_aligned(slab_bytes, [](const std::byte* start) {
      const violation v = slab::of(start)->validate(size);
      EXPECT_FALSE(v) << v.what;
    });
    const violation v = class_.validate_list(index, 100);
    EXPECT_FALSE(v) << v.what;
  }

  alignas(slab_bytes) std::byte bytes_[32 * slab_bytes];
  memory memory_{bytes_, sizeof bytes_};
  free_slabs<slab_bytes, memory> slabs_{memory_};
  class_slabs<slab_bytes> class_;
  intrusive_stack outside_;
};

TEST_F(ClassSlabs, BlocksFollowEachOtherInTheirSlab) {
  const std::vector<slot> blocks = take(3 * capacity);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(slab_of(blocks[i])->index, index);
    if (i % capacity != 0) {
      EXPECT_EQ(blocks[i], blocks[i - 1] + size) << i;
    }
  }
  EXPECT_NE(slab_of(blocks[0]), slab_of(blocks[capacity]));
  EXPECT_EQ(take(1).size(), 1u);
  expect_valid();
}

TEST_F(ClassSlabs, ASlabHasRoomForEverySizeThatItServes) {
  for (std::size_t each = 8; each <= slab_bytes / 8; each += 8) {
    alignas(slab_bytes) std::byte bytes[slab_bytes];
    slab& s = *::new (bytes + slab::offset) slab;
    s.prepare(index, each);
    s.is_listed = true;
    EXPECT_FALSE(s.validate(each)) << each;
    EXPECT_LE(slab::bits_offset + 8 * s.words(), s.first) << each;
    EXPECT_LE(s.first + s.capacity * each, slab_bytes) << each;
    EXPECT_GT(s.first + (s.capacity + 1u) * each, slab_bytes) << each;
    EXPECT_TRUE(is_aligned(bytes + s.first, std::min<std::size_t>(each & ~(each - 1), 64))) << each;
    for (std::size_t i = 0; i < s.capacity; ++i) EXPECT_EQ(s.number_of(bytes + s.first + i * each), i);
  }
}

TEST_F(ClassSlabs, ASlabIsUsedAgainOnceALittleIsFree) {
  const std::vector<slot> blocks = take(4 * capacity);
  slab* const s = slab_of(blocks[0]);
  EXPECT_EQ(s->used(), capacity);
  EXPECT_FALSE(s->is_listed);
  put({blocks.data(), 1});
  EXPECT_EQ(s->used(), capacity - 1);
  EXPECT_TRUE(s->is_listed);
  expect_valid();
  EXPECT_EQ(take(1)[0], blocks[0]);
  EXPECT_FALSE(s->is_listed);
  expect_valid();
}

TEST_F(ClassSlabs, FreeBlocksComeBackInTheOrderOfAddressesSlabBySlab) {
  std::vector<slot> blocks = take(8 * capacity);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(3));
  put({blocks.data(), blocks.size() / 2});
  expect_valid();
  const std::vector<slot> again = take(blocks.size() / 2);
  int descents = 0;
  for (std::size_t i = 1; i < again.size(); ++i)
    if (slab_of(again[i]) != slab_of(again[i - 1])) {
      ++descents;
    } else {
      EXPECT_LT(again[i - 1], again[i]);
    }
  EXPECT_EQ(descents, 7);
  EXPECT_TRUE(std::ranges::is_permutation(again, std::span(blocks.data(), again.size())));
}

TEST_F(ClassSlabs, ASlabWithoutBlocksGoesBackForAnyClassAndTheLastOneStartsAnew) {
  std::vector<slot> blocks = take(2 * capacity);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(3));
  put(blocks);
  expect_valid();
  EXPECT_FALSE(slabs_.empty());
  EXPECT_EQ(slabs_.take()->capacity, 0u);
  EXPECT_TRUE(slabs_.empty()) << "the other one is what the class takes from";
  const std::vector<slot> again = take(capacity);
  EXPECT_TRUE(slabs_.empty());
  EXPECT_TRUE(std::ranges::is_sorted(again));
  EXPECT_EQ(again[0], address_of(slab_of(again[0])->start()) + slab::first_block(size));
}

TEST_F(ClassSlabs, BlocksOutsideOfSlabsAreTheCallers) {
  const std::vector<slot> blocks = take(capacity);
  class_.put(blocks, slabs_, reinterpret_cast<const std::byte*>(blocks[0]), 5 * size, outside_);
  EXPECT_EQ(outside_.count(), 5u);
  EXPECT_EQ(slab_of(blocks[0])->used(), 5u);
  slab* const shared = slabs_.take_shared();
  const slot in_shared[] = {address_of(shared->start() + 80), address_of(shared->start() + 200)};
  put(in_shared);
  EXPECT_EQ(outside_.count(), 7u);
  EXPECT_EQ(address_of(outside_.top()), in_shared[1]);
}

TEST_F(ClassSlabs, AdjacentBlocksWereNeverHandedOutAndLieInOneSlab) {
  const std::vector<slot> blocks = take(3);
  put({blocks.data() + 1, 1});
  EXPECT_EQ(address_of(class_.take_adjacent(4, index, size, slabs_)), blocks[2] + size);
  std::byte* const first = class_.take_adjacent(capacity, index, size, slabs_);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(slab::of(first), slab::of(first + (capacity - 1) * size));
  EXPECT_NE(slab::of(first), slab_of(blocks[0]));
  EXPECT_EQ(slab::of(first)->used(), capacity);
  EXPECT_EQ(take(1)[0], blocks[1]) << "a free block first";
  const std::vector<slot> rest = take(capacity - 7);
  EXPECT_EQ(rest[0], blocks[2] + 5 * size) << "then what the older slab had left";
  EXPECT_EQ(slab_of(blocks[0])->used(), capacity);
  expect_valid();
}

TEST_F(ClassSlabs, OnlyUsedBlocksAreTakenIfWished) {
  const std::vector<slot> blocks = take(6);
  put({blocks.data() + 2, 2});
  std::array<slot, 10> found{};
  EXPECT_EQ(class_.take(found.end(), found.size(), size, true), 2u);
  EXPECT_EQ(found[9], blocks[2]);
  EXPECT_EQ(found[8], blocks[3]);
  EXPECT_EQ(class_.take(found.end(), found.size(), size, true), 0u);
  expect_valid();
}

TEST_F(ClassSlabs, BlocksThatNobodyGotAreAsIfNeverTaken) {
  const std::vector<slot> blocks = take(10);
  put({blocks.data(), 1});
  const std::vector<slot> all = take(capacity - 9);
  EXPECT_FALSE(slab_of(blocks[0])->is_listed);
  EXPECT_EQ(class_.untake(std::vector<slot>(all.rbegin(), all.rend() - 1)), capacity - 10);
  EXPECT_TRUE(slab_of(blocks[0])->is_listed);
  expect_valid();
  put({blocks.data(), 1});
  const std::vector<slot> waiting(blocks.rbegin(), blocks.rbegin() + 6);
  EXPECT_EQ(class_.untake(waiting), 6u);
  expect_valid();
  EXPECT_EQ(class_.untake({blocks.data() + 1, 1}), 0u) << "a later one was handed out";
  EXPECT_EQ(address_of(class_.take_adjacent(5, index, size, slabs_)), blocks[4]);
  EXPECT_EQ(take(1)[0], blocks[0]);
  expect_valid();
}

TEST_F(ClassSlabs, FewerThanA32ndAreAtHandOnceTheSlabIsListedAgain) {
  constexpr std::size_t small = 8;
  class_slabs<slab_bytes> of_small;
  ASSERT_TRUE(of_small.add(0, small, slabs_));
  std::array<slot, class_slab<slab_bytes>::capacity_of(small)> blocks{};
  ASSERT_EQ(of_small.take(blocks.data() + blocks.size(), blocks.size(), small), blocks.size());
  of_small.put({blocks.data(), 1}, slabs_, nullptr, 0, outside_);
  std::array<slot, 2> again{};
  EXPECT_EQ(of_small.take(again.data() + 2, 2, small), 0u) << "a free block in " << blocks.size();
  of_small.relist(slab_of(blocks[0]));
  EXPECT_EQ(of_small.take(again.data() + 2, 2, small), 1u);
  EXPECT_EQ(again[1], blocks[0]);
  EXPECT_FALSE(slab_of(blocks[0])->validate(small));
}

TEST_F(ClassSlabs, NothingIsTakenWithoutMemory) {
  EXPECT_LE(take(40 * capacity).size(), 32 * capacity);
  EXPECT_EQ(slabs_.take(), nullptr);
  EXPECT_EQ(class_.take_adjacent(1, index, size, slabs_), nullptr);
  expect_valid();
}

TEST_F(ClassSlabs, CountsThatContradictTheBitsAreFound) {
  slab* const s = slab_of(take(4)[0]);
  ++s->left;
  EXPECT_TRUE(s->validate(size));
  --s->left;
  s->bits()[0] ^= 1;
  EXPECT_TRUE(s->validate(size));
  s->bits()[0] ^= 1;
  EXPECT_FALSE(s->validate(size));
  s->bits()[0] ^= slab::word{1} << 63;
  EXPECT_TRUE(s->validate(size)) << "a bit for a block behind the slab's end";
  s->bits()[0] ^= slab::word{1} << 63;
  s->is_listed = false;
  EXPECT_TRUE(s->validate(size));
  s->is_listed = true;
  ++s->inverse;
  EXPECT_TRUE(s->validate(size)) << "it finds the bits of other blocks";
}

}  // namespace
}  // namespace mallard
