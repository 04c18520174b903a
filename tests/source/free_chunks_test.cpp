#include "mallard/source/free_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <type_traits>

namespace mallard {
namespace {

static_assert(std::is_trivially_destructible_v<free_chunks>);

struct alignas(16) memory {
  std::array<std::byte, 64> bytes;
};

class FreeChunks : public testing::Test {
 protected:
  void put(std::size_t chunk, std::size_t size) { free_.put(&chunks_[chunk], size); }
  [[nodiscard]] void* at(std::size_t chunk) { return &chunks_[chunk]; }
  [[nodiscard]] bool is_empty() const {
    return free_.bytes([](std::size_t) { return std::size_t{1}; }) == 0;
  }
  void* take_oldest(std::size_t expected_size) {
    std::size_t size = chunk_sizes::count;
    void* const p = free_.take_oldest(size);
    EXPECT_EQ(size, expected_size);
    return p;
  }

  std::array<memory, 40> chunks_;
  free_chunks free_;
};

TEST_F(FreeChunks, AreFoundBySizeNewestFirst) {
  put(0, 7);
  put(1, 8);
  put(2, 7);
  EXPECT_FALSE(free_.validate());
  EXPECT_EQ(free_.take(7), at(2));
  EXPECT_EQ(free_.take(7), at(0));
  EXPECT_EQ(free_.take(7), nullptr);
  EXPECT_EQ(free_.take(9), nullptr);
  EXPECT_FALSE(is_empty());
  EXPECT_EQ(free_.take(8), at(1));
  EXPECT_TRUE(is_empty());
}

TEST_F(FreeChunks, AreFoundByAgeOldestFirst) {
  put(0, 7);
  put(1, 8);
  put(2, 7);
  put(3, chunk_sizes::count - 1);
  EXPECT_EQ(free_.take(8), at(1));
  EXPECT_EQ(take_oldest(7), at(0));
  EXPECT_EQ(take_oldest(7), at(2));
  EXPECT_EQ(take_oldest(chunk_sizes::count - 1), at(3));
  EXPECT_TRUE(is_empty());
}

TEST_F(FreeChunks, AddUpTheirSizes) {
  EXPECT_EQ(free_.bytes([](std::size_t size) { return size; }), 0u);
  put(0, 7);
  put(1, 100);
  EXPECT_EQ(free_.bytes([](std::size_t size) { return 2 * size; }), 214u);
}

// Beside a queue that is searched through.
TEST_F(FreeChunks, AreThoseOfAModelOnRandomTraces) {
  struct entry {
    std::size_t chunk, size;
  };
  std::mt19937 random(3);
  std::deque<entry> model;  // oldest first
  std::array<bool, 40> is_free{};
  for (int step = 0; step < 20000; ++step) {
    const std::size_t chunk = random() % chunks_.size();
    const std::size_t size = random() % 4;
    if (random() % 2 == 0 && !is_free[chunk]) {
      put(chunk, size);
      model.push_back({chunk, size});
      is_free[chunk] = true;
    } else if (random() % 4 != 0) {
      const auto newest =
          std::find_if(model.rbegin(), model.rend(), [&](const entry& e) { return e.size == size; });
      void* const expected = newest == model.rend() ? nullptr : at(newest->chunk);
      ASSERT_EQ(free_.take(size), expected);
      if (newest == model.rend()) continue;
      is_free[newest->chunk] = false;
      model.erase(std::next(newest).base());
    } else if (!model.empty()) {
      ASSERT_EQ(take_oldest(model.front().size), at(model.front().chunk));
      is_free[model.front().chunk] = false;
      model.pop_front();
    }
    ASSERT_EQ(is_empty(), model.empty());
    ASSERT_FALSE(free_.validate()) << free_.validate().what;
  }
}

TEST_F(FreeChunks, ReportAnOverwrittenOne) {
  for (std::size_t i = 0; i < 4; ++i) put(i, i / 2);
  for (std::size_t i = 0; i < 4; ++i) {
    const memory saved = chunks_[i];
    for (std::size_t word = 0; word < 5; ++word) {
      const std::uintptr_t other = word == 4 ? 3 : reinterpret_cast<std::uintptr_t>(at(5 + i));
      std::memset(at(5 + i), 0, sizeof(memory));
      std::memcpy(chunks_[i].bytes.data() + 8 * word, &other, sizeof other);
      EXPECT_TRUE(free_.validate()) << "chunk " << i << ", word " << word;
      chunks_[i] = saved;
      EXPECT_FALSE(free_.validate());
    }
  }
}

TEST(ChunkSizes, AreEveryPageUpTo64) {
  for (std::size_t pages = 1; pages <= 64; ++pages) {
    EXPECT_EQ(chunk_sizes::index(pages), pages - 1);
    EXPECT_EQ(chunk_sizes::pages(pages - 1), pages);
  }
}

TEST(ChunkSizes, HoldEveryRequestWithLessThanAThirtysecondToSpare) {
  for (std::size_t pages = 65; pages <= chunk_sizes::largest; ++pages) {
    const std::size_t index = chunk_sizes::index(pages);
    const std::size_t received = chunk_sizes::pages(index);
    ASSERT_GE(received, pages);
    ASSERT_LT((received - pages) * 32, pages);
    ASSERT_EQ(chunk_sizes::index(received), index) << "the received size finds another size";
    ASSERT_LT(chunk_sizes::pages(index - 1), pages) << "a smaller size would do";
  }
}

TEST(ChunkSizes, EndWithTheLargest) {
  EXPECT_EQ(chunk_sizes::index(chunk_sizes::largest), chunk_sizes::count - 1);
  EXPECT_EQ(chunk_sizes::pages(chunk_sizes::count - 1), chunk_sizes::largest);
}

}  // namespace
}  // namespace mallard
