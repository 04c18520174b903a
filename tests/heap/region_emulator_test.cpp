#include "mallard/heap/region_emulator.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <cstring>
#include <type_traits>
#include <vector>

#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/malloc_heap.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {
namespace {

static_assert(nestable<region_emulator> && clearable<region_emulator> && rewindable<region_emulator>);
static_assert(std::is_default_constructible_v<region_emulator>);
static_assert(heap_name<region_emulator> == "region_emulator");

TEST(RegionEmulator, NestsAsRegionsDo) {
  region_emulator connection;
  {
    region_emulator request(connection, nesting::ends_with_parent);
    for (std::size_t size = 1; size < 10'000; size = size * 3 / 2 + 1)
      std::memset(request.allocate(size, 16).data, 1, size);
  }
  region_emulator cached(connection, nesting::cleared_with_parent);
  ASSERT_TRUE(cached.allocate(100, 8));
  connection.clear();
  EXPECT_FALSE(cached.ended());
  EXPECT_TRUE(cached.allocate(100, 8));
}

TEST(RegionEmulator, LeavesNothingOfAFamilyBehind) {
  basic_region_emulator<best_fit> root;
  {
    basic_region_emulator<best_fit> child(root, nesting::ends_with_parent);
    basic_region_emulator<best_fit> grandchild(child, nesting::cleared_with_parent);
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(child.allocate(24, 8) && grandchild.allocate(48, 8));
    EXPECT_GT(root.upstream().usage().granted, 72'000u - 1);
    EXPECT_EQ(root.usage().granted, 0u) << "they are its children's";
  }
  EXPECT_EQ(root.upstream().usage().granted, 0u);
}

TEST(RegionEmulator, OutlivesItsParentAsAnEmptyOne) {
  auto* const parent = new region_emulator;
  region_emulator child(*parent, nesting::ends_with_parent);
  ASSERT_TRUE(child.allocate(100, 8));
  delete parent;
  EXPECT_TRUE(child.ended());
  EXPECT_FALSE(child.allocate(1, 1));
  EXPECT_EQ(child.records_held(), 0u);
}

using records = record_stack<int, failing<default_source>, doubling<4096, 16384>>;

TEST(RecordStack, TheLastOneOnIsTheFirstOneOff) {
  records stack;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(stack.push(i));
    EXPECT_EQ(stack.size(), 20'000u);
    EXPECT_FALSE(stack.validate());
    for (int i = 20'000; i-- > 0;) ASSERT_EQ(stack.pop(), i);
    EXPECT_TRUE(stack.empty());
    EXPECT_FALSE(stack.validate());
  }
}

TEST(RecordStack, KeepsItsLargestChunkOnly) {
  records stack;
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(stack.push(i));
  while (!stack.empty()) stack.pop();
  EXPECT_LE(stack.held(), 4096u + 16384u);
  stack.release();
  EXPECT_EQ(stack.held(), 0u);
  EXPECT_TRUE(stack.push(1));
  EXPECT_EQ(stack.pop(), 1);
}

TEST(RecordStack, VisitsFromTheTopAndStopsWhenTold) {
  records stack;
  for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(stack.push(i));
  int expected = 5'000;
  stack.for_each_while([&](int value) {
    EXPECT_EQ(value, --expected);
    return value != 100;
  });
  EXPECT_EQ(expected, 100);
}

TEST(RecordStack, StaysAsItIsWhenTheSourceIsExhausted) {
  records stack;
  stack.source().fail_from(1);
  EXPECT_FALSE(stack.push(1));
  stack.source().fail_no_more();
  int held = 0;
  while (stack.source().requests() < 2) ASSERT_TRUE(stack.push(held++));
  stack.source().fail_from(1);
  while (stack.push(held)) ++held;
  EXPECT_EQ(stack.size(), static_cast<std::size_t>(held));
  while (held-- > 0) ASSERT_EQ(stack.pop(), held);
}

// Hands out addresses that fault when anybody touches them, and writes down what comes back.
class untouchable {
 public:
  untouchable()
      : begin_(static_cast<std::byte*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
  }
  untouchable(const untouchable&) = delete;
  untouchable& operator=(const untouchable&) = delete;
  ~untouchable() { munmap(begin_, bytes); }

  block allocate(std::size_t size, std::size_t align) noexcept {
    used_ = align_up(used_, align) + size;
    return used_ > bytes ? block{} : block{begin_ + used_ - size, size};
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    given_back.push_back({p, size, align});
  }

  struct returned {
    void* data;
    std::size_t size, align;
    bool operator==(const returned&) const = default;
  };
  std::vector<returned> given_back;

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 20;
  std::byte* begin_;
  std::size_t used_ = 0;
};

using region_of_untouchable = emulated_region<untouchable, cached_pages>;
using region_of_malloc = emulated_region<malloc_heap, counting<cached_pages>>;
using region_of_best_fit = emulated_region<best_fit, cached_pages>;

static_assert(clearable<region_of_untouchable> && releasable<region_of_untouchable> &&
              rewindable<region_of_untouchable> && inspectable<region_of_untouchable>);
static_assert(!inspectable<region_of_malloc> && inspectable<region_of_best_fit> &&
              measurable<region_of_best_fit>);

TEST(EmulatedRegion, TouchesNoBlock) {
  region_of_untouchable heap;
  const block a = heap.allocate(100, 8);
  const block b = heap.allocate(200, 4096);
  heap.deallocate(a.data, 100, 8);
  EXPECT_TRUE(heap.upstream().given_back.empty()) << "a region ends as a whole";
  const auto mark = heap.mark();
  const block c = heap.allocate(300, 64);
  EXPECT_EQ(heap.usage().granted, 600u);
  heap.rewind(mark);
  const block d = heap.allocate(400, 1);
  heap.free_from(d.data);
  heap.clear();
  using returned = untouchable::returned;
  const std::vector<returned> expected = {
      {c.data, 300, 64}, {d.data, 400, 1}, {b.data, 200, 4096}, {a.data, 100, 8}};
  EXPECT_EQ(heap.upstream().given_back, expected) << "with what they were asked for, the newest first";
}

TEST(EmulatedRegion, APointerIsAllItNotesWhereTheHeapNeedsNoMore) {
  region_of_malloc heap;
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(heap.allocate(16, 8));
  EXPECT_LE(heap.records().max_held(), 2u * 100'000 * sizeof(void*) + 8192);
  heap.release();
  EXPECT_EQ(heap.records_held(), 0u);
  EXPECT_TRUE(heap.allocate(16, 8));
}

TEST(EmulatedRegion, FreesFromABlockOn) {
  region_of_best_fit heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 5'000; ++i) blocks.push_back(heap.allocate(48, 8).data);
  const std::size_t all = heap.usage().granted;
  heap.free_from(blocks[1'000]);
  EXPECT_EQ(heap.usage().granted, all / 5);
  EXPECT_FALSE(heap.upstream().validate());
  heap.free_from(blocks[0]);
  EXPECT_EQ(heap.upstream().usage().granted, 0u);
}

TEST(EmulatedRegion, GivesABlockBackThatItCannotNote) {
  emulated_region<best_fit, failing<default_source>> heap;
  heap.records().fail_from(1);
  EXPECT_FALSE(heap.allocate(48, 8));
  EXPECT_EQ(heap.upstream().usage().granted, 0u);
  heap.records().fail_no_more();
  EXPECT_TRUE(heap.allocate(48, 8));
  EXPECT_FALSE(heap.allocate(SIZE_MAX, 8));
  EXPECT_FALSE(heap.allocate(std::size_t{1} << 60, 8));
}

}  // namespace
}  // namespace mallard
