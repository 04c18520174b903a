#include "replay/run/check_pass.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "replay/allocator/mallocs.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/byte_shadow.hpp"
#include "replay/run/job.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

const trace& sample() {
  static const trace t = events()
                             .malloc(1, 48)
                             .malloc(2, 100)
                             .malloc(3, 0)
                             .memalign(4, 300, 128)
                             .free(2)
                             .malloc(5, 5000)
                             .realloc(1, 6, 500)
                             .realloc(5, 5, 20)
                             .malloc(7, 48)
                             .free(6)
                             .free(3)
                             .free(4)
                             .free(5)
                             .free(7)
                             .calloc(8, 700)
                             .free(8)
                             .build();
  return t;
}

template <class C>
std::string verdict_on(C& allocator, const trace& t = sample()) {
  const check_result result = check_pass(allocator, t.ops(), t.facts().slots);
  return result.verdict == check_verdict::passed ? "passed" : result.what;
}

// An honest heap over one buffer; each control below gives it one error, which must be caught.
class honest_heap {
 public:
  void* allocate(const op& o) {
    next_ = align_up(next_, o.align()) + o.size;
    return memory_.data() + next_ - o.size;
  }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void*, const op&) {}
  void* reallocate(void* p, const op& to, const op& from) { return move_block(*this, p, to, from); }
  void end_pass() {}

 private:
  alignas(4096) std::array<char, 16384> memory_{};
  std::size_t next_ = 0;
};

TEST(CheckPass, AnHonestAllocatorPasses) {
  honest_heap honest;
  EXPECT_EQ(verdict_on(honest), "passed");
  process_malloc usual(sample());
  EXPECT_EQ(verdict_on(usual), "passed");
  none baseline(sample());
  EXPECT_EQ(verdict_on(baseline), "passed");
}

TEST(CheckPass, ABlockOfCallocThatIsNotZeroIsCaught) {
  struct : honest_heap {
    void* allocate_zeroed(const op& o) {
      void* const p = std::memset(allocate(o), 0, o.size);
      static_cast<char*>(p)[o.size - 1] = dirt;
      return p;
    }
    char dirt = 1;
  } dirty;
  EXPECT_EQ(verdict_on(dirty), "a block of calloc is not zero");
  dirty.dirt = 0;
  EXPECT_EQ(verdict_on(dirty), "passed");
}

TEST(CheckPass, OverlappingBlocksAreCaught) {
  struct : honest_heap {
    void* last = nullptr;
    void* allocate(const op& o) {
      if (last != nullptr && o.size == 100) return static_cast<char*>(last) + 8;
      return last = honest_heap::allocate(o);
    }
  } overlapping;
  EXPECT_EQ(verdict_on(overlapping), "two live blocks overlap");
}

TEST(CheckPass, ABlockHandedOutTwiceIsCaught) {
  struct : honest_heap {
    void* first = nullptr;
    void* allocate(const op& o) {
      if (o.size == 48 && first != nullptr) return first;
      return first = honest_heap::allocate(o);
    }
  } repeating;
  const trace t = events().malloc(1, 48).malloc(2, 48).build();
  EXPECT_EQ(verdict_on(repeating, t), "two live blocks overlap");
}

TEST(CheckPass, ContentsScribbledOverAreCaughtAtTheirDeath) {
  struct : honest_heap {
    char* victim = nullptr;
    void* allocate(const op& o) {
      if (victim != nullptr && o.size == 5000) victim[47] ^= 1;  // the last byte of the first block
      void* p = honest_heap::allocate(o);
      if (o.size == 48 && victim == nullptr) victim = static_cast<char*>(p);
      return p;
    }
  } scribbling;
  EXPECT_EQ(verdict_on(scribbling), "contents written at the allocation are damaged at a resize");

  struct : honest_heap {
    void* allocate(const op& o) {
      void* p = honest_heap::allocate(o);
      if (earlier != nullptr) *static_cast<char*>(earlier) = 0;
      return earlier = p;
    }
    void* earlier = nullptr;
  } clearing;
  EXPECT_EQ(verdict_on(clearing, events().malloc(1, 8).malloc(2, 8).build()),
            "contents written at the allocation are damaged at the free");
}

TEST(CheckPass, MisalignedBlocksAreCaught) {
  struct : honest_heap {
    void* allocate_aligned(const op& o) { return static_cast<char*>(honest_heap::allocate_aligned(o)) + 64; }
  } misaligned;
  EXPECT_EQ(verdict_on(misaligned), "a block is not aligned as asked");
}

TEST(CheckPass, AReallocationThatLosesContentsIsCaught) {
  struct : honest_heap {
    void* reallocate(void*, const op& to, const op&) { return honest_heap::allocate(to); }
  } forgetful;
  EXPECT_EQ(verdict_on(forgetful), "contents are damaged by a resize");
}

TEST(CheckPass, ExhaustionIsToldFromAViolation) {
  struct : honest_heap {
    void* allocate(const op& o) { return o.size == 5000 ? nullptr : honest_heap::allocate(o); }
  } small;
  EXPECT_EQ(check_pass(small, sample().ops(), sample().facts().slots).verdict, check_verdict::exhausted);

  struct : honest_heap {
    void* allocate(const op& o) {
      if (o.size == 5000) throw std::bad_alloc();
      return honest_heap::allocate(o);
    }
  } throwing;
  const check_result result = check_pass(throwing, sample().ops(), sample().facts().slots);
  EXPECT_EQ(result.verdict, check_verdict::exhausted);
  EXPECT_EQ(sample().ops()[result.stopped_at].size, 5000u);
}

// A journal paired wrongly would show here too: the ops themselves are part of what is checked.
TEST(CheckPass, AFreeWithoutItsAllocationIsCaught) {
  const op wrong[] = {{8, 0, op_kind::deallocate, 3}};
  honest_heap honest;
  EXPECT_STREQ(check_pass(honest, wrong, 1).what, "a free without its allocation");
}

TEST(CheckPass, APatternDependsOnTheBlockAndThePlace) {
  std::array<char, 64> memory{};
  write_pattern(memory.data(), 61, 5);
  EXPECT_TRUE(has_pattern(memory.data(), 61, 5));
  EXPECT_TRUE(has_pattern(memory.data(), 13, 5));
  EXPECT_FALSE(has_pattern(memory.data(), 61, 6));
  EXPECT_FALSE(has_pattern(memory.data() + 8, 53, 5));
  memory[60] ^= 0x40;
  EXPECT_FALSE(has_pattern(memory.data(), 61, 5));
}

// Every strategy that needs no other malloc, in this process.
TEST(CheckPass, EveryStrategyPassesUpToTheAlignmentItServes) {
  const trace modest = events()
                           .malloc(1, 48)
                           .malloc(2, 24)
                           .malloc(3, 0)
                           .malloc(4, 3)
                           .memalign(5, 80, 16)
                           .realloc(1, 6, 500)
                           .malloc(7, 100'000)
                           .free(2)
                           .realloc(7, 7, 16)
                           .free(6)
                           .build();
  for (const strategy& s : strategies()) {
    if (s.bound == binding::malloc) continue;
    const trace& t = s.most_align < sample().facts().max_align ? modest : sample();
    job task(job_kind::check);
    s.run(t, task);
    EXPECT_EQ(task.state, harness::work_state::done)
        << s.name << " " << name_of(s.bound) << ": " << task.reason.data();
  }
}

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(ByteShadow, NeighboursDoNotOverlap) {
  byte_shadow shadow;
  EXPECT_TRUE(shadow.claim(at(0x7f0000001000), 17));
  EXPECT_TRUE(shadow.claim(at(0x7f0000001011), 47));
  EXPECT_TRUE(shadow.claim(at(0x7f0000000fff), 1));
}

TEST(ByteShadow, OneSharedByteIsAnOverlapAtEitherEndAndAcrossPages) {
  byte_shadow shadow;
  ASSERT_TRUE(shadow.claim(at(0x7f0000001ff0), 10'000));
  EXPECT_FALSE(shadow.claim(at(0x7f0000001fe1), 16));
  EXPECT_FALSE(shadow.claim(at(0x7f0000001ff0 + 9'999), 1));
  EXPECT_FALSE(shadow.claim(at(0x7f0000003000), 64));
}

TEST(ByteShadow, WhatWasLeftMayBeClaimedAgain) {
  byte_shadow shadow;
  ASSERT_TRUE(shadow.claim(at(0x10000), 100'000));
  EXPECT_TRUE(shadow.leave(at(0x10000), 100'000));
  EXPECT_FALSE(shadow.leave(at(0x10000), 1));
  EXPECT_TRUE(shadow.claim(at(0x10000), 100'000));
}

TEST(ByteShadow, AddressesFarApartHaveBitsOfTheirOwn) {
  byte_shadow shadow;
  EXPECT_TRUE(shadow.claim(at(0x000000001000), 8));
  EXPECT_TRUE(shadow.claim(at(0x000001001000), 8));
  EXPECT_TRUE(shadow.claim(at(0x001000001000), 8));
  EXPECT_TRUE(shadow.claim(at(0x7ffffffff000), 8));
}

TEST(ByteShadow, NothingOverlapsNothing) {
  byte_shadow shadow;
  EXPECT_TRUE(shadow.claim(at(0x1000), 0));
  EXPECT_TRUE(shadow.claim(at(0x1000), 0));
  EXPECT_TRUE(shadow.leave(at(0x1000), 0));
}

}  // namespace
}  // namespace mallard::replay
