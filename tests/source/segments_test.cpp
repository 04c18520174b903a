#include "mallard/source/segments.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "mallard/core/light_mutex.hpp"

namespace mallard {
namespace {

// A range that refuses to be extended when told to, knows where it ends, and counts what is purged, and what
// is to be of huge pages.
struct tried_range : address_range {
  static inline bool refuses = false;
  static inline std::byte* end = nullptr;
  static inline std::size_t purged = 0;
  static inline std::size_t huge = 0;

  bool extend(std::byte* from, std::size_t bytes) {
    if (refuses) errno = ENOMEM;
    end = from + bytes;
    return !refuses && address_range::extend(from, bytes);
  }
  static void purge(std::byte* from, std::size_t bytes) {
    purged += bytes;
    address_range::purge(from, bytes);
  }
  static void ask_for_huge_pages(std::byte* from, std::size_t bytes) {
    huge += bytes;
    address_range::ask_for_huge_pages(from, bytes);
  }
};

struct set_clock {
  static inline std::uint64_t time = 0;
  static std::uint64_t now() { return time; }
  static std::size_t bytes_between() { return segments::segment_bytes; }
};

using tried_segments = basic_segments<light_mutex, tried_range, set_clock>;
constexpr std::size_t segment_bytes = tried_segments::segment_bytes;

class Segments : public testing::Test {
 protected:
  Segments() { tried_range::refuses = false, tried_range::purged = 0, set_clock::time = 1000; }
  ~Segments() override {
    if (is_closed_) return;
    const violation v = from_.validate();
    EXPECT_FALSE(v) << v.what;
    from_.close();
  }

  segment* take(std::size_t length, std::size_t align = segment_bytes) {
    return from_.take(length, segment_use::large, align);
  }
  void close() {
    from_.close();
    is_closed_ = true;
  }
  std::byte* memory_of(segment* s) { return from_.start_of(s); }
  // Spans come and go until the time is looked at.
  void let_time_be_seen() {
    for (int i = 0; i != 16; ++i) from_.give_back(take(1), 1);
  }

  tried_segments from_;
  bool is_closed_ = false;
};

TEST_F(Segments, AnAddressLeadsToItsEntry) {
  EXPECT_EQ(from_.find(&from_), nullptr);
  EXPECT_EQ(from_.find(nullptr), nullptr);
  segment* const a = take(1);
  segment* const b = take(3);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_EQ(from_.find(memory_of(a)), a);
  EXPECT_EQ(from_.find(memory_of(a) + segment_bytes - 1), a);
  EXPECT_EQ(from_.find(memory_of(b)), b);
  EXPECT_EQ(from_.find(memory_of(b) + segment_bytes)->use, segment_use::none);
  EXPECT_EQ(from_.find(&from_), nullptr);
  EXPECT_EQ(from_.find(reinterpret_cast<void*>(~std::uintptr_t{0})), nullptr);
}

TEST_F(Segments, WhatCameBackServesTheNextRequestWithWhatItHeld) {
  segment* const a = take(4);
  EXPECT_TRUE(a->is_zero);
  std::memset(memory_of(a), 1, 4 * segment_bytes);
  std::byte* const at = memory_of(a);
  from_.give_back(a, 4);
  segment* const again = take(2);
  EXPECT_EQ(memory_of(again), at);
  EXPECT_FALSE(again->is_zero);
  EXPECT_EQ(*at, std::byte{1});
}

// Of what a cache holds of it, and it costs no work on lists.
TEST_F(Segments, TheSpanThatCameBackLastServesTheNextRequestOfItsLength) {
  segment* const a = take(2);
  segment* const b = take(2);
  for (segment* const s : {a, b}) from_.give_back(s, 2);
  EXPECT_EQ(from_.usage().dirty, 4 * segment_bytes);
  segment* const again = take(2);
  EXPECT_EQ(again, b);
  EXPECT_FALSE(again->is_zero);
  EXPECT_EQ(from_.usage().used, 2 * segment_bytes);
  EXPECT_EQ(from_.usage().dirty, 2 * segment_bytes);
  from_.give_back(again, 2);
  constexpr std::size_t align = 64 * segment_bytes;
  EXPECT_TRUE(is_aligned(memory_of(take(2, align)), align));
}

TEST_F(Segments, TheSpanThatCameBackLastIsJoinedWhereThatHelps) {
  segment* const a = take(2);
  segment* const b = take(2);
  take(1);
  from_.give_back(b, 2);
  EXPECT_TRUE(from_.grow(a, 4));
  from_.shrink(a, 2, 2);
  from_.give_back(a, 2);
  EXPECT_EQ(take(3), a);
  from_.give_back(a, 3);
  EXPECT_EQ(from_.trim(0), 4 * segment_bytes);
}

TEST_F(Segments, WhatNobodyWroteToStaysZero) {
  segment* const a = take(4);
  std::byte* const at = memory_of(a);
  std::memset(at, 1, segment_bytes);
  from_.give_back(a, 1);
  EXPECT_EQ(from_.usage().dirty, segment_bytes);
  segment* const b = take(3);
  EXPECT_TRUE(b->is_zero);
  EXPECT_EQ(memory_of(b), at + segment_bytes);
}

// Or the system would have given a small page before it can give a huge one.
TEST_F(Segments, MemoryGrowsByWholeHugePagesWhereTheyAreWanted) {
  constexpr std::uintptr_t huge_page = 2 << 20;
  from_.set_huge_pages(true);
  for (int i = 0; i != 8; ++i) {
    std::byte* const last = memory_of(take(9)) + 9 * segment_bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tried_range::end) % huge_page, 0u);
    EXPECT_GE(tried_range::end, last);
    EXPECT_LE(tried_range::end, last + 2 * huge_page);
  }
}

TEST_F(Segments, APartIsAQuarterOfASegmentAndHasItsOwnEntry) {
  segment* const before = take(1);
  std::array<segment*, 9> parts{};
  for (segment*& p : parts) {
    p = from_.take_part();
    ASSERT_NE(p, nullptr);
    EXPECT_TRUE(p->is_zero);
    EXPECT_EQ(from_.at(from_.number_of(p)), p);
  }
  EXPECT_EQ(from_.usage().used, 4 * segment_bytes);
  for (std::size_t i = 0; i != parts.size(); ++i) {
    std::byte* const begin = memory_of(parts[i]);
    EXPECT_EQ(from_.find(begin)->use, segment_use::split);
    EXPECT_EQ(from_.find_part(begin), parts[i]);
    EXPECT_EQ(from_.find_part(begin + tried_segments::part_bytes - 1), parts[i]);
    EXPECT_EQ(begin - memory_of(parts[i / 4 * 4]), static_cast<std::ptrdiff_t>(i % 4 * segment_bytes / 4));
    std::memset(begin, static_cast<int>(i), tried_segments::part_bytes);
  }
  EXPECT_EQ(from_.find_part(memory_of(before)), before);
  EXPECT_EQ(from_.find_part(nullptr), nullptr);
  for (std::size_t i = 0; i != parts.size(); ++i)
    EXPECT_EQ(memory_of(parts[i])[tried_segments::part_bytes - 1], static_cast<std::byte>(i));
}

TEST_F(Segments, PartsAreGivenAgainAndGoBackAsAWhole) {
  std::array<segment*, 4> parts{};
  for (segment*& p : parts) p = from_.take_part();
  std::byte* const begin = memory_of(parts[0]);
  begin[0] = std::byte{1};
  from_.give_back(parts[0], 1);
  from_.give_back(parts[2], 0);
  EXPECT_EQ(from_.usage().used, segment_bytes);
  segment* const first = from_.take_part();
  EXPECT_EQ(first, parts[0]);
  EXPECT_FALSE(first->is_zero);
  EXPECT_EQ(memory_of(first)[0], std::byte{1});
  segment* const third = from_.take_part();
  EXPECT_EQ(third, parts[2]);
  EXPECT_TRUE(third->is_zero);
  for (segment* p : parts) from_.give_back(p, 0);
  EXPECT_EQ(from_.usage().used, 0u);
  EXPECT_EQ(from_.usage().dirty, segment_bytes);  // by what was written to before
  segment* const whole = take(1);
  EXPECT_EQ(memory_of(whole), begin);
  EXPECT_EQ(from_.find_part(begin + segment_bytes / 2), from_.find(begin + segment_bytes / 2));
}

TEST_F(Segments, PartsThatNobodyWroteToLeaveTheirSegmentZero) {
  segment* const part = from_.take_part();
  std::byte* const begin = memory_of(part);
  from_.give_back(part, 0);
  EXPECT_EQ(from_.usage().dirty, 0u);
  segment* const whole = take(1);
  EXPECT_EQ(memory_of(whole), begin);
  EXPECT_TRUE(whole->is_zero);
}

TEST_F(Segments, WithoutMemoryForItsEntryThereIsNoPart) {
  (void)take(1);
  tried_range::refuses = true;
  EXPECT_EQ(from_.take_part(), nullptr);
  tried_range::refuses = false;
  EXPECT_EQ(from_.usage().used, segment_bytes);
  EXPECT_NE(from_.take_part(), nullptr);
}

TEST_F(Segments, AGlanceNeedsNoLockAndTellsTheSame) {
  segment* const a = take(4);
  (void)take(3);
  from_.give_back(a, 4);
  const segments_usage told = from_.usage();
  const auto guard = from_.lock();
  const segments_usage seen = from_.glance();
  EXPECT_EQ(seen.used, told.used);
  EXPECT_EQ(seen.dirty, told.dirty);
  EXPECT_EQ(seen.peak, told.peak);
  EXPECT_EQ(seen.purged, told.purged);
}

// Its heap knows what its block has written to, not what an earlier owner of the memory has.
TEST_F(Segments, ASpanThatWasDirtyIsDirtyToItsEnd) {
  segment* const a = take(8);
  from_.give_back(a, 8);
  segment* const b = take(8);
  ASSERT_FALSE(b->is_zero);
  from_.shrink(b, 4, 1);
  EXPECT_EQ(from_.usage().dirty, 4 * segment_bytes);
  from_.give_back(b, 1);
  EXPECT_EQ(from_.usage().dirty, 8 * segment_bytes);
}

TEST_F(Segments, FreedMemoryGoesBackAfterItsTime) {
  segment* const held = take(64);
  segment* const a = take(8);
  from_.give_back(a, 8);
  let_time_be_seen();
  EXPECT_EQ(from_.usage().dirty, 8 * segment_bytes);
  set_clock::time += tried_segments::default_keep_time + 1;
  let_time_be_seen();
  let_time_be_seen();
  EXPECT_LE(from_.usage().dirty, segment_bytes);
  EXPECT_GE(tried_range::purged, 7 * segment_bytes);
  from_.give_back(held, 0);
}

TEST_F(Segments, FreedMemoryGoesBackAfterItsTimeWhereSpansOnlyShrink) {
  segment* const a = take(64);
  segment* const b = take(32);
  from_.give_back(b, 32);
  set_clock::time += tried_segments::default_keep_time + 1;
  for (std::size_t length = 63; length != 32; --length) from_.shrink(a, length, 1);
  EXPECT_LT(from_.usage().dirty, 32 * segment_bytes);
}

TEST_F(Segments, WithoutAKeepTimeItGoesBackAtOnce) {
  from_.set_keep_time(0);
  segment* const a = take(3);
  std::memset(memory_of(a), 1, segment_bytes);
  from_.give_back(a, 3);
  EXPECT_EQ(from_.usage().dirty, 0u);
  segment* const b = take(3);
  EXPECT_TRUE(b->is_zero);
  EXPECT_EQ(*memory_of(b), std::byte{0});
}

TEST_F(Segments, WhatIsKeptRaisesThePeakByAnEighthAtMost) {
  std::vector<segment*> all;
  for (int i = 0; i != 100; ++i) all.push_back(take(4));
  for (segment* s : all) from_.give_back(s, 4);
  EXPECT_GT(from_.usage().dirty, 300 * segment_bytes);
  segment* const one = take(440);  // fits nowhere
  ASSERT_NE(one, nullptr);
  const segments_usage u = from_.usage();
  EXPECT_LE(u.used + u.dirty, 440 * segment_bytes + 440 * segment_bytes / 8);
}

TEST_F(Segments, WhatIsKeptRaisesThePeakByAnEighthAtMostWhereASpanGrows) {
  segment* const before = take(1000);
  segment* const last = take(1);
  from_.give_back(before, 1000);
  ASSERT_TRUE(from_.grow(last, 600));
  const segments_usage u = from_.usage();
  EXPECT_LE(u.used + u.dirty, 1001 * segment_bytes + 1001 * segment_bytes / 8);
}

TEST_F(Segments, TrimGivesBackAllButWhatIsToBeKept) {
  segment* const a = take(30);
  take(1);
  segment* const b = take(10);
  take(1);
  from_.give_back(a, 30);
  from_.give_back(b, 10);
  EXPECT_EQ(from_.trim(12 * segment_bytes), 28 * segment_bytes);
  EXPECT_EQ(from_.usage().dirty, 12 * segment_bytes);
  EXPECT_EQ(from_.trim(0), 12 * segment_bytes);
  EXPECT_EQ(from_.trim(0), 0u);
}

TEST_F(Segments, CleanMemoryAtTheEndIsUnmapped) {
  segment* const a = take(1);
  segment* const b = take(1000);
  std::byte* const at = memory_of(b);
  std::memset(at, 1, 1000 * segment_bytes);
  from_.give_back(b, 1000);
  from_.trim(0);
  EXPECT_EQ(from_.find(at + 900 * segment_bytes), nullptr);
  EXPECT_EQ(::msync(at + 900 * segment_bytes, 4096, MS_ASYNC) == 0, MALLARD_THREAD_SANITIZED);
  segment* const c = take(1000);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(memory_of(c)[999 * segment_bytes], std::byte{0});
  from_.give_back(a, 1);
}

TEST_F(Segments, SpansAreAlignedAsAskedFor) {
  take(1);
  for (std::size_t align = segment_bytes; align <= 64 * segment_bytes; align *= 2) {
    segment* const s = take(3, align);
    ASSERT_NE(s, nullptr);
    EXPECT_TRUE(is_aligned(memory_of(s), align));
    EXPECT_EQ(s->length, 3u);
  }
  const violation v = from_.validate();
  EXPECT_FALSE(v) << v.what;
}

TEST_F(Segments, ASpanGrowsWhereWhatFollowsIsFree) {
  segment* const a = take(2);
  segment* const b = take(4);
  segment* const c = take(1);
  EXPECT_FALSE(from_.grow(a, 3));
  from_.give_back(b, 2);  // in two parts: dirty, clean
  EXPECT_TRUE(from_.grow(a, 4));
  EXPECT_EQ(a->length, 4u);
  EXPECT_TRUE(from_.grow(a, 6));
  EXPECT_FALSE(from_.grow(a, 7));
  EXPECT_TRUE(from_.grow(c, 100));  // the last one has the rest of the range
  memory_of(c)[100 * segment_bytes - 1] = std::byte{1};
  tried_range::refuses = true;
  EXPECT_FALSE(from_.grow(c, 1000));
  EXPECT_EQ(c->length, 100u);
}

TEST_F(Segments, ASpanThatShrinksGivesItsEndToOthers) {
  segment* const a = take(10);
  std::byte* const at = memory_of(a);
  from_.shrink(a, 3, 1);
  EXPECT_EQ(a->length, 3u);
  EXPECT_EQ(from_.usage().dirty, segment_bytes);
  segment* const b = take(1);
  EXPECT_EQ(memory_of(b), at + 3 * segment_bytes);
}

TEST_F(Segments, PagesMoveFromOneSpanToAnother) {
  segment* const a = take(2);
  take(1);
  segment* const b = take(8);
  std::memset(memory_of(a), 1, 2 * segment_bytes);
  std::memset(memory_of(b), 2, 8 * segment_bytes);
  if (!from_.move_pages(a, b, 2 * segment_bytes)) GTEST_SKIP() << "the system is too old";
  EXPECT_EQ(memory_of(b)[2 * segment_bytes - 1], std::byte{1});
  EXPECT_EQ(memory_of(b)[2 * segment_bytes], std::byte{2});
  EXPECT_EQ(memory_of(a)[0], std::byte{0});
  from_.shrink(b, 4, 4);
  EXPECT_EQ(memory_of(b)[4 * segment_bytes - 1], std::byte{2});
  from_.give_back(b, 4);
  EXPECT_EQ(from_.usage().dirty, 0u) << "the mapping that was moved stays apart";
  segment* const c = take(8);
  EXPECT_TRUE(c->is_zero);
  EXPECT_EQ(memory_of(c)[0], std::byte{0});
  EXPECT_EQ(memory_of(c)[7 * segment_bytes], std::byte{0});
}

// Of 65,530 that a process may have, each takes two.
TEST_F(Segments, SpansThatPagesWereMovedToLeaveTheProcessMappings) {
  segment* const from = take(1);
  std::vector<segment*> all{take(1)};
  if (!from_.move_pages(from, all[0], 4096)) GTEST_SKIP() << "the system is too old";
  do all.push_back(take(1));
  while (all.size() != 20000 && from_.move_pages(from, all.back(), 4096));
  EXPECT_LT(all.size(), 10000u);
  EXPECT_GT(all.size(), 5000u);
  from_.give_back(all[0], 1);
  EXPECT_TRUE(from_.move_pages(from, all.back(), 4096));
}

TEST_F(Segments, WhereAllPagesWereMovedFromIsZeroToItsEnd) {
  segment* const a = take(3);
  segment* const b = take(8);
  std::memset(memory_of(a), 1, 3 * segment_bytes);
  if (!from_.move_pages(a, b, segment_bytes + 8192)) GTEST_SKIP() << "the system is too old";
  EXPECT_EQ(memory_of(a)[segment_bytes + 8192], std::byte{0});
  EXPECT_EQ(memory_of(a)[3 * segment_bytes - 1], std::byte{0});
}

TEST_F(Segments, WhatTheSystemRefusesIsNullAndChangesNothing) {
  segment* const a = take(1);
  const segments_usage before = from_.usage();
  tried_range::refuses = true;
  EXPECT_EQ(take(10000), nullptr);
  EXPECT_EQ(from_.usage().used, before.used);
  EXPECT_EQ(from_.usage().peak, before.peak);
  tried_range::refuses = false;
  EXPECT_NE(take(10000), nullptr);
  EXPECT_EQ(take(std::size_t{1} << 40), nullptr);
  EXPECT_EQ(take(0), nullptr);
  EXPECT_EQ(take(1, std::size_t{1} << 62), nullptr);
  from_.give_back(a, 1);
}

TEST_F(Segments, WhereTheSystemGivesNoMoreWhatIsDirtyIsJoinedWithWhatIsClean) {
  segment* const a = take(100);
  (void)take(1);
  from_.give_back(a, 40);
  tried_range::refuses = true;
  EXPECT_EQ(from_.take(100, segment_use::large, segment_bytes, nullptr, false), nullptr)
      << "what nobody needs is worth no purge";
  EXPECT_EQ(take(100), a);
  EXPECT_TRUE(a->is_zero);
}

TEST_F(Segments, WhereTheSystemGivesNoMoreAllFreeSpansAreLookedAt) {
  segment* const longest = take(40);
  std::vector<segment*> shorter;
  for (int i = 0; i != 10; ++i) {
    (void)take(1);
    shorter.push_back(take(33));
  }
  (void)take(1);
  from_.give_back(longest, 0);
  for (segment* s : shorter) from_.give_back(s, 0);
  tried_range::refuses = true;
  EXPECT_EQ(take(40), longest);
}

TEST_F(Segments, ErrnoStaysWhatItWas) {
  errno = 77;
  segment* const a = take(1);
  from_.give_back(a, 1);
  from_.trim(0);
  EXPECT_EQ(errno, 77);
  segment* const b = take(32);  // what follows is not memory yet
  tried_range::refuses = true;
  EXPECT_EQ(take(10000), nullptr);
  EXPECT_FALSE(from_.grow(b, 20000));
  EXPECT_EQ(errno, 77) << "a heap may still find less memory, or copy";
}

#if !MALLARD_THREAD_SANITIZED  // where addresses are reserved, and nobody else has any of them
// It is a mapping of its own otherwise: the process may have only so many.
TEST_F(Segments, WhatPagesWereMovedToIsOfHugePagesAgain) {
  from_.set_huge_pages(true);
  segment* const a = take(4);
  segment* const b = take(4);
  if (!from_.move_pages(a, b, 2 * segment_bytes)) GTEST_SKIP() << "the system is too old";
  tried_range::huge = 0;
  from_.shrink(b, 3, 1);
  EXPECT_EQ(tried_range::huge, segment_bytes);
  from_.give_back(b, 3);
  EXPECT_EQ(tried_range::huge, 4 * segment_bytes);
}

// The range lies where nobody maps anything, but nothing keeps others from it.
TEST_F(Segments, GoesOnBehindSomebodyElsesMapping) {
  segment* const a = take(1);
  std::byte* const ahead = memory_of(a) + 64 * segment_bytes;
  ASSERT_EQ(::mmap(ahead, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), ahead);
  std::vector<segment*> all;
  for (int i = 0; i != 40; ++i) {
    all.push_back(take(5));
    ASSERT_NE(all.back(), nullptr);
    std::memset(memory_of(all.back()), 1, 5 * segment_bytes);
    EXPECT_TRUE(memory_of(all.back()) > ahead || memory_of(all.back()) + 5 * segment_bytes <= ahead);
  }
  for (segment* s : all) from_.give_back(s, 5);
  close();
  EXPECT_EQ(::munmap(ahead, 4096), 0);
}

TEST_F(Segments, CloseUnmapsThemAndNothingElse) {
  std::byte* const at = memory_of(take(3));
  std::byte* const ahead = at + 64 * segment_bytes;
  ASSERT_EQ(::mmap(ahead, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), ahead);
  for (int i = 0; i != 40; ++i) take(5);
  segment* const last = take(6);
  std::byte* const recent = memory_of(last);
  from_.give_back(last, 6);
  close();
  EXPECT_EQ(::msync(ahead, 4096, MS_ASYNC), 0);
  EXPECT_NE(::msync(at, 4096, MS_ASYNC), 0);
  EXPECT_NE(::msync(recent, 4096, MS_ASYNC), 0);
  EXPECT_GE(from_.usage().peak, 200 * segment_bytes) << "what there was can still be asked for";
  EXPECT_EQ(from_.find(at), nullptr);
  ::munmap(ahead, 4096);
}

#endif

TEST_F(Segments, AThreadFindsItsOwnWhileTheTableGrows) {
  segment* const mine = take(1);
  std::atomic<bool> is_over = false;
  std::thread finding([&, at = memory_of(mine)] {
    while (!is_over.load()) EXPECT_EQ(from_.find(at), mine);
  });
  for (int i = 0; i != 4; ++i) EXPECT_NE(take(segment_bytes / sizeof(segment)), nullptr);
  is_over = true;
  finding.join();
}

TEST_F(Segments, ThreadsShareThem) {
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed)
    threads.emplace_back([this, seed] {
      std::vector<segment*> mine;
      unsigned random = seed;
      for (int i = 0; i != 2000; ++i) {
        random = random * 1103515245 + 12345;
        if (mine.size() < 20 && (random >> 16 & 1) != 0) {
          mine.push_back(take(1 + (random >> 20) % 7));
          *reinterpret_cast<unsigned*>(memory_of(mine.back())) = seed;
        } else if (!mine.empty()) {
          segment* const s = mine[(random >> 20) % mine.size()];
          EXPECT_EQ(*reinterpret_cast<unsigned*>(memory_of(s)), seed);
          std::erase(mine, s);
          from_.give_back(s, 1);
        }
      }
      for (segment* s : mine) from_.give_back(s, 1);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(from_.usage().used, 0u);
}

}  // namespace
}  // namespace mallard
