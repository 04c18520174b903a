#include "mallard/source/chunk_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace mallard {
namespace {

constexpr std::size_t page = 4096;

// Pages of the system that count the calls they cost, may be used up, and know which chunks are out.
class seen_pages {
 public:
  static constexpr bool is_concurrent = true;
  static constexpr bool is_divisible = true;

  static std::size_t page_size() noexcept { return page; }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return pages_.received_size(size, align);
  }
  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    ++calls;
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    if (size > room) return {};
    const block given = pages_.allocate(size, align);
    room -= given.size;
    const std::size_t now = out += given.size;
    for (std::size_t most = most_out; most < now && !most_out.compare_exchange_weak(most, now);) {
    }
    return given;
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    ++calls;
    room += received_size(size, align);
    out -= received_size(size, align);
    pages_.deallocate(p, size, align);
  }

  std::atomic<std::size_t> calls = 0;
  std::atomic<std::size_t> room = std::size_t{1} << 40;  // bytes that are left
  std::atomic<std::size_t> out = 0;                      // bytes given and not yet back
  std::atomic<std::size_t> most_out = 0;
  std::function<void()> meanwhile;  // what another thread does during the next call

 private:
  os_pages pages_;
};

// Time that passes only where a test says so, in milliseconds.
struct set_clock {
  static inline std::atomic<std::uint64_t> time = 0;
  static std::uint64_t now() noexcept { return time; }
  static std::size_t bytes_between() noexcept { return std::size_t{1} << 20; }
};

static_assert(heap<chunk_cache> && predictable<chunk_cache> && trimmable<chunk_cache>);
static_assert(concurrent<basic_chunk_cache<seen_pages>> && concurrent<chunk_cache>);
static_assert(inspectable<chunk_cache> && !counted<chunk_cache>);

class ChunkCache : public testing::Test {
 protected:
  ~ChunkCache() override {
    EXPECT_FALSE(cache_.validate());
    cache_.trim(0);
    EXPECT_EQ(cache_.mapped(), 0u) << "a test did not give everything back";
    EXPECT_EQ(pages().out, 0u);
  }

  [[nodiscard]] seen_pages& pages() { return cache_.upstream(); }

  void* take(std::size_t size) {
    const block b = cache_.allocate(size, 8);
    EXPECT_EQ(b.size, cache_.received_size(size, 8));
    EXPECT_TRUE(is_aligned(b.data, page));
    return b.data;
  }
  void keep(void* p, std::size_t size) { cache_.deallocate(p, size, 8); }

  // Lets so much be in use once that the highest mark is no bound.
  void reach(std::size_t bytes) {
    const std::size_t limit = cache_.limit();
    cache_.set_limit(0);
    keep(take(bytes), bytes);
    cache_.set_limit(limit);
  }

  basic_chunk_cache<seen_pages, 0, set_clock> cache_;
};

TEST_F(ChunkCache, ReturnsToTheSystemWhatIsNotToBeKept) {
  void* const a = take(5 * page);
  void* const b = take(5 * page);
  cache_.return_to_system(a, 5 * page - 100, 8);
  EXPECT_EQ(pages().out, 5 * page);
  EXPECT_EQ(cache_.cached(), 0u);
  EXPECT_EQ(cache_.mapped(), 5 * page);
  keep(b, 5 * page);
  void* const aligned = cache_.allocate(page, 4 * page).data;
  cache_.return_to_system(aligned, page, 4 * page);
  EXPECT_EQ(pages().out, cache_.cached());
}

TEST_F(ChunkCache, GivesAKeptChunkAgainWithoutASystemCall) {
  for (const std::size_t size : {page, 3 * page, 100 * page, 5000 * page}) {
    void* const chunk = take(size);
    keep(chunk, size);
    const std::size_t calls = pages().calls;
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(take(size), chunk);
      keep(chunk, size);
    }
    EXPECT_EQ(pages().calls, calls);
  }
}

TEST(ChunkCacheOfPages, SaysWhichChunksAreFresh) {
  basic_chunk_cache<os_pages> cache;
  for (const auto& [size, align] : {std::pair{100 * page, page}, std::pair{page, 4 * page}}) {
    bool is_fresh = false;
    const block first = cache.allocate(size, align, is_fresh);
    EXPECT_TRUE(first && is_fresh);
    const bool is_kept = align == page;
    cache.deallocate(first.data, size, align);
    const block second = cache.allocate(size, align, is_fresh);
    EXPECT_EQ(is_fresh, !is_kept);
    cache.deallocate(second.data, size, align);
  }
  bool is_fresh = true;
  EXPECT_FALSE(cache.allocate(max_request, page, is_fresh));
  EXPECT_FALSE(is_fresh);
  cache.trim(0);
}

TEST_F(ChunkCache, FindsAChunkByAnySizeUpToTheReceivedOne) {
  const std::size_t received = cache_.received_size(100 * page + 1, 1);
  EXPECT_EQ(received, 102 * page);
  void* const chunk = take(100 * page + 1);
  for (const std::size_t size : {100 * page + 1, 101 * page + 17, 102 * page}) {
    keep(chunk, size);
    EXPECT_EQ(take(size), chunk);
  }
  keep(chunk, received);
  EXPECT_EQ(cache_.cached(), received);
}

TEST_F(ChunkCache, GivesTheNewestOfASizeFirst) {
  std::array<void*, 3> chunks = {take(page), take(page), take(page)};
  for (void* c : chunks) keep(c, page);
  EXPECT_EQ(take(page), chunks[2]);
  EXPECT_EQ(take(page), chunks[1]);
  keep(chunks[2], page);
  EXPECT_EQ(take(page), chunks[2]);
  keep(chunks[1], page);
  keep(chunks[2], page);
}

TEST_F(ChunkCache, NeverHoldsMoreThanWasOnceInUse) {
  keep(take(10 * page), 10 * page);
  EXPECT_EQ(cache_.cached(), 10 * page);
  void* const other = take(4 * page);  // of no kept size: what is kept makes room
  EXPECT_EQ(pages().out, 4 * page);
  EXPECT_EQ(cache_.max_mapped(), 10 * page);
  keep(other, 4 * page);
  void* const third = take(6 * page);  // both have room below what was once in use
  EXPECT_EQ(cache_.cached(), 4 * page);
  EXPECT_EQ(cache_.mapped(), 10 * page);
  keep(third, 6 * page);
}

// A heap that needs another size at its end than before, again and again.
TEST(ChunkCacheOfFewChunks, GivesNothingBackUpToItsLeast) {
  basic_chunk_cache<seen_pages, 20 * page, set_clock> cache;
  const auto live = [&] {
    for (const std::size_t pages : {10u, 4u, 6u}) {
      const block b = cache.allocate(pages * page, 8);
      EXPECT_NE(b.data, nullptr);
      cache.deallocate(b.data, b.size, 8);
    }
  };
  live();
  EXPECT_EQ(cache.mapped(), 20 * page);
  EXPECT_EQ(cache.max_mapped(), 20 * page) << "what was cached at the peak was mapped as well";
  const std::size_t calls = cache.upstream().calls;
  live();
  EXPECT_EQ(cache.upstream().calls, calls);
  const block more = cache.allocate(page, 8);
  EXPECT_EQ(cache.mapped(), 11 * page) << "the oldest makes room above it";
  EXPECT_EQ(cache.upstream().most_out, 20 * page);
  EXPECT_FALSE(cache.validate());
  cache.deallocate(more.data, page, 8);
  cache.trim(0);
}

TEST(ChunkCacheOfFewChunks, HoldsWhatWasInUseAboveItsLeast) {
  basic_chunk_cache<seen_pages, 5 * page> cache;
  const block large = cache.allocate(8 * page, 8);
  cache.deallocate(large.data, 8 * page, 8);
  const block small = cache.allocate(2 * page, 8);
  EXPECT_EQ(cache.mapped(), 2 * page) << "an eighth more is no two pages";
  EXPECT_EQ(cache.max_mapped(), 8 * page);
  cache.deallocate(small.data, 2 * page, 8);
  cache.trim(0);
}

TEST_F(ChunkCache, GivesTheOldestBackFirst) {
  reach(100 * page);
  const std::array<void*, 4> chunks = {take(page), take(2 * page), take(3 * page), take(4 * page)};
  for (const std::size_t i : {2u, 0u, 3u, 1u}) keep(chunks[i], (i + 1) * page);
  EXPECT_EQ(cache_.trim(7 * page), 3 * page);
  EXPECT_EQ(cache_.trim(6 * page), page);
  EXPECT_EQ(cache_.trim(6 * page), 0u);
  EXPECT_EQ(take(4 * page), chunks[3]);
  keep(chunks[3], 4 * page);  // the newest now
  EXPECT_EQ(cache_.trim(4 * page), 2 * page);
  EXPECT_EQ(cache_.cached(), 4 * page);
  EXPECT_EQ(cache_.trim(0), 4 * page);
}

TEST_F(ChunkCache, GivesBackWhatNobodyHasAskedForInAWhile) {
  reach(1000 * page);
  void* const unused = take(5 * page);
  void* const used = take(3 * page);
  keep(unused, 5 * page);
  keep(used, 3 * page);
  for (int i = 0; i < 10; ++i) {
    set_clock::time += cache_.keep_time() / 2;
    for (int small = 0; small < 100; ++small) {  // more than a megabyte
      EXPECT_EQ(take(3 * page), used);
      keep(used, 3 * page);
    }
    EXPECT_EQ(cache_.cached(), i == 0 ? 8 * page : 3 * page);
  }
}

TEST_F(ChunkCache, GivesLargeMemoryBackInSteps) {
  constexpr std::size_t large = std::size_t{1} << 30;
  void* const small = take(page);
  keep(take(large), large);
  set_clock::time += cache_.keep_time();
  std::size_t before = cache_.cached();
  int steps = 0;
  for (; before > large / 64; ++steps) {
    for (int i = 0; i < 255; ++i) {
      keep(small, page);
      EXPECT_EQ(take(page), small);
    }
    keep(small, page);
    EXPECT_LE(before - cache_.cached(), large / 8 + 2 * page);
    EXPECT_LT(cache_.cached(), before);
    before = cache_.cached();
    void* const again = take(large / 128);
    keep(again, large / 128);
    EXPECT_EQ(take(large / 128), again) << "what was used just now went back";
    keep(again, large / 128);
    before = cache_.cached();
    EXPECT_EQ(take(page), small);
  }
  EXPECT_LT(steps, 40);
  keep(small, page);
}

// However rarely the cache is used meanwhile: here after each of several parts of its keep time.
TEST_F(ChunkCache, HasGivenAllBackBeforeTwiceTheTimeItKeepsFor) {
  constexpr std::size_t large = std::size_t{1} << 30;
  for (const std::uint64_t parts : {1u, 2u, 5u, 20u, 100u}) {
    void* const small = take(page);
    keep(take(large), large);
    for (std::uint64_t part = 0; part < 2 * parts; ++part) {
      set_clock::time += cache_.keep_time() / parts;
      for (int i = 0; i < 256; ++i) {
        keep(small, page);
        EXPECT_EQ(take(page), small);
      }
      if (part + 1 < parts) {
        EXPECT_EQ(cache_.cached(), large);
      }
    }
    EXPECT_EQ(cache_.cached(), 0u) << parts;
    keep(small, page);
    cache_.trim(0);
  }
}

TEST_F(ChunkCache, KeepsNothingWhereItKeepsForNoTime) {
  const std::uint64_t before = cache_.keep_time();
  cache_.set_keep_time(0);
  keep(take(5 * page), 5 * page);
  EXPECT_EQ(cache_.mapped(), 0u);
  cache_.set_keep_time(before);
  keep(take(5 * page), 5 * page);
  EXPECT_EQ(cache_.cached(), 5 * page);
  cache_.set_keep_time(0);
  EXPECT_EQ(pages().out, 0u) << "what was cached before";
  cache_.set_keep_time(before);
}

// A vector that grows by an eighth at a time, beside others, as often as the program goes round.
TEST_F(ChunkCache, ServesBlocksThatGrowFromWhatOthersHaveLeft) {
  const auto grow = [&] {
    std::size_t size = 20 * page;
    void* held = take(size);
    while (size < 3000 * page) {
      const std::size_t next = size + size / 8;
      void* const moved = take(next);
      keep(held, size);
      held = moved;
      size = next;
    }
    keep(held, size);
  };
  grow();
  const std::size_t first = pages().calls;
  grow();
  EXPECT_LT(4 * (pages().calls - first), first);
}

TEST_F(ChunkCache, ChunksOfAnEvenNumberOfPagesAreAlignedToTwo) {
  std::vector<block> blocks;
  for (std::size_t pages = 2; pages < 60; pages += 2) {
    blocks.push_back(cache_.allocate(pages * page, 2 * page));
    EXPECT_TRUE(is_aligned(blocks.back().data, 2 * page)) << pages;
  }
  const std::size_t calls = pages().calls;
  for (const block& b : blocks) cache_.deallocate(b.data, b.size, 2 * page);
  EXPECT_EQ(pages().calls, calls);
}

TEST_F(ChunkCache, KeepsToItsLimit) {
  reach(1000 * page);
  cache_.set_limit(10 * page);
  std::vector<void*> chunks(12);
  for (void*& c : chunks) c = take(page);
  for (void* c : chunks) keep(c, page);
  EXPECT_EQ(cache_.cached(), 10 * page);
  EXPECT_EQ(take(page), chunks[11]);
  keep(chunks[11], page);
  void* const large = take(8 * page);
  keep(large, 8 * page);
  EXPECT_EQ(cache_.cached(), 10 * page);
  EXPECT_EQ(take(8 * page), large) << "the newest was given back in place of older ones";
  keep(large, 8 * page);
  keep(take(11 * page), 11 * page);
  EXPECT_EQ(take(8 * page), large) << "what is larger than the limit drove others out";
  keep(large, 8 * page);
  cache_.set_limit(9 * page);
  EXPECT_EQ(cache_.cached(), 9 * page);
  EXPECT_EQ(cache_.limit(), 9 * page);
}

TEST_F(ChunkCache, IsSwitchedOffByALimitOfZero) {
  keep(take(5 * page), 5 * page);
  cache_.set_limit(0);
  EXPECT_EQ(pages().out, 0u);
  EXPECT_EQ(cache_.mapped(), 0u);
  for (const std::size_t size : {page, 5 * page}) {
    const std::size_t calls = pages().calls;
    keep(take(size), size);
    EXPECT_EQ(pages().calls, calls + 2);
    EXPECT_EQ(cache_.mapped(), 0u);
  }
}

TEST_F(ChunkCache, PassesStrictAlignmentsAndHugeSizesThrough) {
  const block aligned = cache_.allocate(3 * page, 16 * page);
  EXPECT_TRUE(is_aligned(aligned.data, 16 * page));
  const std::size_t huge = (span_sizes::largest + 1) * page;
  const block large = cache_.allocate(huge, 8);
  EXPECT_EQ(large.size, huge);
  EXPECT_EQ(cache_.mapped(), huge + 3 * page);
  cache_.deallocate(large.data, huge, 8);
  cache_.deallocate(aligned.data, 3 * page - 5, 16 * page);
  EXPECT_EQ(cache_.mapped(), 0u);
  EXPECT_EQ(cache_.max_mapped(), huge + 3 * page);
}

TEST_F(ChunkCache, GivesEverythingBackBeforeARequestFails) {
  pages().room = 100 * page;
  reach(100 * page);
  for (std::size_t n = 1; n <= 5; ++n) keep(take(n * page), n * page);
  EXPECT_EQ(cache_.cached(), 15 * page);
  pages().room = pages().room - 65 * page;  // gone to somebody else
  void* const chunk = take(30 * page);
  ASSERT_NE(chunk, nullptr);
  EXPECT_EQ(cache_.cached(), 0u);
  EXPECT_EQ(cache_.allocate(30 * page, 8), block{});
  EXPECT_EQ(cache_.mapped(), 30 * page);
  EXPECT_EQ(cache_.max_mapped(), 100 * page) << "a request that failed counts";
  keep(chunk, 30 * page);
}

// As where a plugin that has its own copy ends a heap of the program's.
TEST_F(ChunkCache, GivesBackWhatAnotherInstanceHasGiven) {
  basic_chunk_cache<os_pages, 0> other;
  const block kept = other.allocate(page, 8);
  const block passed = other.allocate(page, 2 * page);
  cache_.deallocate(kept.data, page, 8);
  EXPECT_EQ(cache_.cached(), 0u);
  cache_.deallocate(passed.data, page, 2 * page);
  EXPECT_EQ(cache_.mapped(), 0u);
  EXPECT_FALSE(cache_.validate());
  pages().out = 0;  // it has never given these two
}

TEST_F(ChunkCache, HoldsItsBoundWhenAnotherThreadKeepsAChunkMeanwhile) {
  void* const first = take(6 * page);
  void* const second = take(4 * page);
  pages().meanwhile = [&] { keep(first, 6 * page); };
  void* const third = take(5 * page);
  EXPECT_EQ(cache_.max_mapped(), 10 * page);
  EXPECT_EQ(cache_.mapped(), 9 * page);
  keep(second, 4 * page);
  keep(third, 5 * page);
}

TEST_F(ChunkCache, CanStartItsHighestMarkAgain) {
  keep(take(10 * page), 10 * page);
  keep(take(2 * page), 2 * page);
  EXPECT_EQ(cache_.max_mapped(), 10 * page);
  cache_.reset_max_mapped();
  EXPECT_EQ(cache_.max_mapped(), cache_.mapped());
  keep(take(3 * page), 3 * page);
  EXPECT_EQ(cache_.max_mapped(), 3 * page);
  EXPECT_EQ(cache_.mapped(), 3 * page) << "the bound did not start again with the mark";
}

TEST_F(ChunkCache, ReportsAChunkThatWasOverwritten) {
  reach(100 * page);
  const std::array<void*, 3> chunks = {take(page), take(page), take(page)};
  for (void* c : chunks) keep(c, page);
  EXPECT_FALSE(cache_.validate());
  std::array<std::byte, 64> saved;
  std::memcpy(saved.data(), chunks[2], saved.size());
  std::memset(chunks[2], 0, saved.size());
  EXPECT_TRUE(cache_.validate());
  std::memcpy(chunks[2], saved.data(), saved.size());
}

// Whatever is asked for and given back: both bounds, and what the source says is out.
TEST_F(ChunkCache, HoldsItsBoundsOnRandomTraces) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  struct live {
    void* data;
    std::size_t size;
  };
  std::size_t most = 0;
  for (int trace = 0; trace < 20; ++trace) {
    std::vector<live> chunks;
    std::size_t in_use = 0;
    const std::size_t limit = below(2000) * page;
    cache_.set_limit(limit);
    for (int step = 0; step < 1000; ++step) {
      if (chunks.empty() || below(2) == 0) {
        const std::size_t size = 1 + below(below(4) == 0 ? 300 * page : 4 * page);
        chunks.push_back({take(size), size});
        in_use += cache_.received_size(size, 8);
      } else {
        std::swap(chunks[below(chunks.size())], chunks.back());
        keep(chunks.back().data, chunks.back().size);
        in_use -= cache_.received_size(chunks.back().size, 8);
        chunks.pop_back();
      }
      most = std::max(most, in_use);
      ASSERT_EQ(pages().out, in_use + cache_.cached());
      ASSERT_EQ(cache_.mapped(), pages().out);
      ASSERT_LE(cache_.cached(), limit);
      ASSERT_LE(cache_.mapped(), most + most / 8);
      ASSERT_LE(cache_.max_mapped(), most + most / 8);
      ASSERT_LE(pages().most_out, most + most / 8) << "room was made too late";
      ASSERT_FALSE(cache_.validate()) << cache_.validate().what;
    }
    for (const live& c : chunks) keep(c.data, c.size);
  }
}

// Each thread fills its chunks and finds them so; whom a chunk is given to next, nobody knows.
TEST_F(ChunkCache, ServesEightThreadsAtOnce) {
  cache_.set_limit(64 * page);
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 8; ++id) {
    threads.emplace_back([this, id] {
      std::mt19937 random(id);
      std::array<std::vector<block>, 2> turns;
      for (std::size_t turn = 0; turn < 300; ++turn) {
        for (std::size_t n = 0; n < 6; ++n) {
          const block b = cache_.allocate((1 + random() % 8) * page, 8);
          if (b) std::memset(b.data, static_cast<int>(id), b.size);
          turns[turn % 2].push_back(b);
        }
        for (const block& b : turns[(turn + 1) % 2]) {
          const auto* const bytes = static_cast<const unsigned char*>(b.data);
          if (bytes[0] != id || bytes[b.size - 1] != id) ADD_FAILURE() << "another thread has this chunk";
          cache_.deallocate(b.data, b.size, 8);
        }
        turns[(turn + 1) % 2].clear();
        if (turn % 50 == 49) cache_.trim(8 * page);
      }
      for (const auto& rest : turns)
        for (const block& b : rest) cache_.deallocate(b.data, b.size, 8);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(cache_.mapped(), cache_.cached());
  EXPECT_LE(cache_.cached(), 64 * page);
  EXPECT_EQ(pages().out, cache_.cached());
}

}  // namespace
}  // namespace mallard
