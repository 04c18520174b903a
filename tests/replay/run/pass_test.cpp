#include "replay/run/pass.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

// Hands out a fixed span of memory and writes down what it is asked.
class recorder {
 public:
  void* allocate(const op& o) {
    log += "a" + std::to_string(o.size) + " ";
    return o.size > 1000 ? nullptr : take(o.size);
  }
  void* allocate_aligned(const op& o) {
    log += "m" + std::to_string(o.size) + "@" + std::to_string(o.align()) + " ";
    return take(o.size);
  }
  void deallocate(void*, const op& o) { log += "f" + std::to_string(o.size) + " "; }
  void* reallocate(void* p, const op& to, const op& from) {
    log += "r" + std::to_string(from.size) + ">" + std::to_string(to.size) + " ";
    return p;
  }
  void end_pass() {}

  std::string log;
  std::array<char, 4096> memory{};

 private:
  void* take(std::size_t size) {
    next_ += size;
    return memory.data() + next_ - size;
  }
  std::size_t next_ = 0;
};

template <touch Touch>
const op* replay_all(recorder& r, const trace& t) {
  std::vector<void*> slots(t.facts().slots);
  return replay_pass<Touch>(r, t.ops().data(), t.ops().data() + t.ops().size(), slots.data());
}

TEST(Pass, EveryOpReachesTheAllocatorInOrder) {
  recorder r;
  const trace t = events().malloc(1, 8).memalign(2, 100, 64).realloc(1, 3, 16).free(2).free(3).build();
  EXPECT_EQ(replay_all<touch::first>(r, t), t.ops().data() + t.ops().size());
  EXPECT_EQ(r.log, "a8 m100@64 r8>16 f100 f16 ");
}

TEST(Pass, StopsAtTheOpThatCannotBeServed) {
  recorder r;
  const trace t = events().malloc(1, 8).malloc(2, 5000).malloc(3, 8).build();
  EXPECT_EQ(replay_all<touch::first>(r, t), &t.ops()[1]);
}

TEST(Pass, TouchesTheFirstByteOrAllButNoneOfAnEmptyBlock) {
  const trace t = events().malloc(1, 3).malloc(2, 0).build();
  recorder first;
  replay_all<touch::first>(first, t);
  EXPECT_EQ(std::string(first.memory.data(), 4), std::string("\1\0\0\0", 4));
  recorder all;
  replay_all<touch::all>(all, t);
  EXPECT_EQ(std::string(all.memory.data(), 4), std::string("\1\1\1\0", 4));
}

TEST(Pass, TouchesALineEachAndBeyondTheFirstPageAPageEach) {
  std::vector<char> memory(12'300);
  touch_block<touch::lines>(memory.data(), 12'299);
  std::vector<std::size_t> touched;
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i] != 0) touched.push_back(i);
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < 4096; i += 64) wanted.push_back(i);
  wanted.insert(wanted.end(), {4096, 8192, 12'288, 12'298});
  EXPECT_EQ(touched, wanted);
  char none = 0;
  touch_block<touch::lines>(&none, 0);
  EXPECT_EQ(none, 0);
}

// An allocator without a calloc has its block zeroed; one with its own is left to it.
TEST(Pass, ACallocIsZeroedWhereTheAllocatorCannot) {
  const trace t = events().calloc(1, 6).calloc(2, 0).build();
  recorder plain;
  plain.memory.fill('x');
  replay_all<touch::first>(plain, t);
  EXPECT_EQ(plain.log, "a6 a0 f6 f0 ");
  EXPECT_EQ(std::string(plain.memory.data(), 7), std::string("\1\0\0\0\0\0x", 7));

  class : public recorder {
   public:
    void* allocate_zeroed(const op& o) {
      log += "c" + std::to_string(o.size) + " ";
      return memory.data();
    }
  } own;
  own.memory.fill('x');
  std::vector<void*> slots(t.facts().slots);
  replay_pass<touch::first>(own, t.ops().data(), t.ops().data() + t.ops().size(), slots.data());
  EXPECT_EQ(own.log, "c6 c0 f6 f0 ");
  EXPECT_EQ(std::string(own.memory.data(), 3), std::string("\1xx", 3));
}

TEST(Pass, AHeapThatCanResizesInPlace) {
  const trace t = events().malloc(1, 64).build();
  const op small{64, 0, op_kind::reallocate, 4};
  const op large{128, 0, op_kind::reallocate, 4};
  const op stricter{4096, 0, op_kind::reallocate, 5};

  typed_heap<monotonic> growing(t);
  void* const p = growing.allocate(small);
  EXPECT_EQ(growing.reallocate(p, large, small), p);
  EXPECT_NE(growing.reallocate(p, stricter, large), p);

  typed_heap<multipool> fixed(t);
  void* const q = fixed.allocate(small);
  static_cast<char*>(q)[63] = 'x';
  void* const moved = fixed.reallocate(q, large, small);
  EXPECT_NE(moved, q);
  EXPECT_EQ(static_cast<char*>(moved)[63], 'x');
}

}  // namespace
}  // namespace mallard::replay
