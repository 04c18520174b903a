#include "mallard/heap/multipool/class_slabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "mallard/core/growth.hpp"
#include "mallard/layer/shared_chunks.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

constexpr std::size_t slab_bytes = 1024;
constexpr std::size_t size = 48;
constexpr std::size_t index = 5;
constexpr std::size_t capacity = class_slab<slab_bytes>::capacity(size);
static_assert(capacity == 20);

// The class, with the magazine and the counting that its user has.
class ClassSlabs : public testing::Test {
 protected:
  using memory = shared_chunks<fixed_buffer, constant<4 * slab_bytes>>;
  using slab = class_slab<slab_bytes>;

  void* allocate() {
    if (magazine_.empty()) magazine_ = class_.take_freed(size, room_);
    if (magazine_.empty()) {
      magazine_ = class_.carve(size, index, slabs_);
      room_ = class_slabs<slab_bytes>::magazine(size);
    }
    void* const p = magazine_.pop();
    if (p != nullptr) ++room_;
    return p;
  }
  std::vector<void*> allocate(std::size_t count) {
    std::vector<void*> blocks(count);
    for (void*& p : blocks) p = allocate();
    return blocks;
  }
  void deallocate(void* p) {
    if (room_-- == 0) {
      class_.exchange(magazine_, slabs_, nullptr, 0);
      room_ = class_slabs<slab_bytes>::magazine(size) - 1;
    }
    magazine_.push(p);
  }
  // All blocks go to their slabs.
  void empty_magazines() {
    for (int i = 0; i < 2; ++i) class_.exchange(magazine_, slabs_, nullptr, 0);
    room_ = class_slabs<slab_bytes>::magazine(size);
  }
  void expect_valid() {
    memory_.for_each_aligned(slab_bytes, [](const std::byte* start) {
      const violation v = slab::of(start)->validate(size);
      EXPECT_FALSE(v) << v.what;
    });
    EXPECT_FALSE(class_.validate_list(index, 100));
  }

  alignas(slab_bytes) std::byte bytes_[32 * slab_bytes];
  memory memory_{bytes_, sizeof bytes_};
  free_slabs<slab_bytes, memory> slabs_{memory_};
  class_slabs<slab_bytes> class_;
  intrusive_stack magazine_;
  std::uint32_t room_ = 0;
};

TEST_F(ClassSlabs, BlocksFollowEachOtherInTheirSlab) {
  const std::vector<void*> blocks = allocate(3 * capacity);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(slab::of(blocks[i])->index, index);
    if (i % capacity != 0) EXPECT_EQ(blocks[i], static_cast<std::byte*>(blocks[i - 1]) + size) << i;
  }
  EXPECT_NE(slab::of(blocks[0]), slab::of(blocks[capacity]));
  expect_valid();
}

TEST_F(ClassSlabs, ABlockFreedLastIsReusedFirst) {
  const std::vector<void*> blocks = allocate(30);
  for (void* p : blocks) deallocate(p);
  for (std::size_t i = blocks.size(); i-- != 0;) EXPECT_EQ(allocate(), blocks[i]);
}

TEST_F(ClassSlabs, ASlabIsUsedAgainOnceALittleIsFree) {
  const std::vector<void*> blocks = allocate(4 * capacity);
  slab* const s = slab::of(blocks[0]);
  EXPECT_EQ(s->used(), capacity);
  deallocate(blocks[0]);
  empty_magazines();
  EXPECT_EQ(s->used(), capacity - 1);
  EXPECT_TRUE(s->is_listed);
  EXPECT_EQ(allocate(), blocks[0]);
  EXPECT_FALSE(s->is_listed);
  expect_valid();
}

TEST_F(ClassSlabs, FreeBlocksOfOneSlabComeTogether) {
  std::vector<void*> blocks = allocate(8 * capacity);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(3));
  for (std::size_t i = 0; i < blocks.size() / 2; ++i) deallocate(blocks[i]);
  empty_magazines();
  expect_valid();
  int changes = 0;
  const slab* last = nullptr;
  for (std::size_t i = 0; i < blocks.size() / 2; ++i) {
    const slab* const s = slab::of(allocate());
    if (s != last) ++changes;
    last = s;
  }
  EXPECT_EQ(changes, 8);
}

TEST_F(ClassSlabs, ASlabWithoutBlocksStartsAnewForAnyClass) {
  std::vector<void*> blocks = allocate(2 * capacity);
  const slab* const first = slab::of(blocks[0]);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(3));
  for (void* p : blocks) deallocate(p);
  empty_magazines();
  slab* const given = slabs_.take(7);
  EXPECT_EQ(given, first) << "the other one is what the class carves from";
  EXPECT_EQ(given->index, 7);
  blocks = allocate(capacity);
  EXPECT_TRUE(std::ranges::is_sorted(blocks));
  EXPECT_EQ(blocks[0], slab::of(blocks[0])->start() + slab::first_block);
}

TEST_F(ClassSlabs, EarlyBlocksKeepAListOfTheirOwn) {
  const std::vector<void*> blocks = allocate(capacity);
  for (void* p : blocks) deallocate(p);
  for (int i = 0; i < 2; ++i)
    class_.exchange(magazine_, slabs_, static_cast<std::byte*>(blocks[0]), 5 * size);
  EXPECT_EQ(class_.early().count(), 5u);
  EXPECT_EQ(slab::of(blocks[0])->used(), 5u);
  std::vector<void*> again;
  for (int i = 0; i < 5; ++i) again.push_back(allocate());
  std::ranges::sort(again);
  EXPECT_TRUE(std::equal(again.begin(), again.end(), blocks.begin()));
}

TEST_F(ClassSlabs, AdjacentBlocksAreCarvedFromOneSlab) {
  ASSERT_NE(class_.carve_adjacent(size, index, 3, slabs_, magazine_), nullptr);
  EXPECT_TRUE(magazine_.empty());
  std::byte* const first = class_.carve_adjacent(size, index, capacity, slabs_, magazine_);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(slab::of(first), slab::of(first + (capacity - 1) * size));
  EXPECT_EQ(slab::of(first)->room() / size, 0u);
  EXPECT_EQ(magazine_.count(), capacity - 3) << "what the slab before had left";
}

TEST_F(ClassSlabs, ABatchThatNobodyTookIsCarvedAgain) {
  void* const first = allocate();
  class_.uncarve(size, magazine_);
  EXPECT_TRUE(magazine_.empty());
  EXPECT_EQ(class_.carve_adjacent(size, index, 2, slabs_, magazine_), static_cast<std::byte*>(first) + size);
  expect_valid();
}

TEST_F(ClassSlabs, NothingIsCarvedWithoutMemory) {
  while (allocate() != nullptr) {
  }
  EXPECT_EQ(slabs_.take(index), nullptr);
  expect_valid();
}

TEST_F(ClassSlabs, AWriteToAFreeBlockIsFound) {
  const std::vector<void*> blocks = allocate(2 * capacity);
  for (std::size_t i = 1; i < 4; ++i) deallocate(blocks[i]);
  empty_magazines();
  expect_valid();
  auto* const written = static_cast<chain::node*>(blocks[2]);
  written->next = reinterpret_cast<chain::node*>(static_cast<std::byte*>(blocks[1]) + 8);
  EXPECT_STREQ(slab::of(written)->validate(size).what, "class_slabs: a freed block is none of its slab's");
}

TEST_F(ClassSlabs, CountsThatContradictEachOtherAreFound) {
  slab* const s = slab::of(allocate());
  s->left = capacity + 1;
  EXPECT_TRUE(s->validate(size));
  s->left = 0;
  EXPECT_TRUE(s->validate(size));
}

}  // namespace
}  // namespace mallard
