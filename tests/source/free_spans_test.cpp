#include "mallard/source/free_spans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

namespace mallard {
namespace {

// Pages of 64 bytes, which is all that a free span writes to.
constexpr int page_shift = 6;
constexpr std::size_t page = std::size_t{1} << page_shift;

// Places and sizes in pages; where spans are joined in two pages, as 17 of these are the smallest that are.
template <bool Joins>
class spans_test : public testing::Test {
 protected:
  void put(std::size_t at, std::size_t pages, std::uint64_t since = 0) {
    free_.put(bytes_ + at * unit * page, pages * unit, since, page_shift);
    expect_valid();
  }
  // The page at which what is taken begins; `none` if there is nothing.
  std::size_t take(std::size_t pages) { return place_of(free_.take(pages * unit, page_shift)); }
  std::size_t take_oldest(std::size_t most, std::size_t expected) {
    std::size_t pages = 0;
    void* const p = free_.take_oldest(most * unit, pages, page_shift);
    EXPECT_EQ(pages, expected * unit);
    return place_of(p);
  }
  void expect_valid() {
    const violation v = free_.validate(page_shift);
    EXPECT_FALSE(v) << v.what;
  }

  std::size_t pages() const { return free_.pages() / unit; }

  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t unit = Joins ? 2 : 1;

  alignas(4096) std::byte bytes_[1024 * unit * page];
  free_spans<Joins> free_;

 private:
  std::size_t place_of(const void* p) const {
    return p == nullptr ? none : (address_of(p) - address_of(bytes_)) / (unit * page);
  }
};

using FreeSpans = spans_test<false>;
using JoinedSpans = spans_test<true>;

TEST_F(FreeSpans, AreFoundBySizeNewestFirst) {
  put(0, 7);
  put(10, 8);
  put(20, 7);
  EXPECT_EQ(take(7), 20u);
  EXPECT_EQ(take(7), 0u);
  EXPECT_EQ(take(7), none);
  EXPECT_EQ(take(9), none);
  EXPECT_FALSE(free_.empty());
  EXPECT_EQ(take(8), 10u);
  EXPECT_TRUE(free_.empty());
}

TEST_F(FreeSpans, AreFoundByAgeOldestFirst) {
  put(0, 7, 1);
  put(10, 8, 2);
  put(20, 7, 3);
  put(100, 300, 4);
  EXPECT_EQ(take(8), 10u);
  EXPECT_EQ(free_.oldest_since(), 1u);
  EXPECT_EQ(take_oldest(1000, 7), 0u);
  EXPECT_EQ(take_oldest(1, 7), 20u) << "a span of a source that is not divisible goes as a whole";
  EXPECT_EQ(take_oldest(1, 300), 100u);
  EXPECT_TRUE(free_.empty());
}

TEST_F(FreeSpans, AreNeitherJoinedNorCut) {
  put(0, 20);
  put(20, 20);
  EXPECT_EQ(take(40), none);
  EXPECT_EQ(take(18), none);
  EXPECT_EQ(take(20), 20u);
}

TEST_F(FreeSpans, AddUpTheirPages) {
  EXPECT_EQ(pages(), 0u);
  put(0, 7);
  put(100, 100);
  EXPECT_EQ(pages(), 107u);
}

// Beside a queue that is searched through.
TEST_F(FreeSpans, AreThoseOfAModelOnRandomTraces) {
  struct entry {
    std::size_t at, pages;
  };
  std::mt19937 random(3);
  std::deque<entry> model;  // oldest first
  std::array<bool, 40> is_free{};
  for (std::uint64_t step = 0; step < 20000; ++step) {
    const std::size_t at = random() % is_free.size();
    const std::size_t pages = 1 + random() % 4;
    if (random() % 2 == 0 && !is_free[at]) {
      put(at * 8, pages, step);
      model.push_back({at, pages});
      is_free[at] = true;
    } else if (random() % 4 != 0) {
      const auto newest =
          std::find_if(model.rbegin(), model.rend(), [&](const entry& e) { return e.pages == pages; });
      ASSERT_EQ(take(pages), newest == model.rend() ? none : newest->at * 8);
      if (newest == model.rend()) continue;
      is_free[newest->at] = false;
      model.erase(std::next(newest).base());
    } else if (!model.empty()) {
      ASSERT_EQ(take_oldest(1000, model.front().pages), model.front().at * 8);
      is_free[model.front().at] = false;
      model.pop_front();
    }
    ASSERT_EQ(free_.empty(), model.empty());
  }
}

TEST_F(FreeSpans, ReportAnOverwrittenOne) {
  for (std::size_t i = 0; i < 4; ++i) put(8 * i, 1 + i / 2);
  for (std::size_t i = 0; i < 4; ++i) {
    std::array<std::byte, page> saved;
    std::memcpy(saved.data(), bytes_ + 8 * i * page, page);
    for (std::size_t word = 0; word < 5; ++word) {
      const std::uintptr_t other = word == 4 ? 5 : address_of(bytes_ + 500 * page);
      std::memset(bytes_ + 500 * page, 0, page);
      std::memcpy(bytes_ + 8 * i * page + 8 * word, &other, sizeof other);
      EXPECT_TRUE(free_.validate(page_shift)) << "span " << i << ", word " << word;
      std::memcpy(bytes_ + 8 * i * page, saved.data(), page);
      expect_valid();
    }
  }
}

TEST_F(JoinedSpans, AreJoinedOnBothSides) {
  put(100, 20);
  put(140, 20);
  EXPECT_EQ(take(60), none);
  put(120, 20);
  EXPECT_EQ(pages(), 60u);
  EXPECT_EQ(take(60), 100u);
  EXPECT_TRUE(free_.empty());
}

TEST_F(JoinedSpans, AreCutAtTheirEndWhereTheyAreTooLarge) {
  put(0, 100);
  EXPECT_EQ(take(20), 80u);
  EXPECT_EQ(take(70), 10u);
  EXPECT_EQ(take(70), none);
  expect_valid();
  EXPECT_EQ(pages(), 10u);
  EXPECT_EQ(take(10), 0u) << "what is left is a small span";
}

TEST_F(JoinedSpans, OfThoseThatFitTheSmallestIsCut) {
  put(0, 100);
  put(200, 30);
  put(300, 60);
  EXPECT_EQ(take(20), 210u);
  EXPECT_EQ(take(32), 328u);
}

TEST_F(JoinedSpans, LeaveSmallOnesAlone) {
  put(0, 8);
  put(8, 8);
  put(16, 20);
  EXPECT_EQ(pages(), 36u);
  EXPECT_EQ(take(36), none);
  EXPECT_EQ(take(8), 8u);
  EXPECT_EQ(take(4), none);
}

TEST_F(JoinedSpans, AreAsOldAsTheirLargerPart) {
  put(0, 100, 1);
  put(200, 20, 2);
  put(100, 20, 3);  // a small part of an old span
  EXPECT_EQ(free_.oldest_since(), 1u);
  EXPECT_EQ(take(120), 0u);
  put(220, 60, 4);  // a large part
  EXPECT_EQ(free_.oldest_since(), 4u);
  EXPECT_EQ(take(80), 200u);
}

// More than the first pages of the table of boundaries have room for.
TEST_F(JoinedSpans, AreFoundHoweverManyThereAre) {
  static std::array<std::byte, 400 * 40 * page> more;
  free_spans<true> many;
  const auto begin = (address_of(more.data()) + page - 1) / page * page;
  const auto at = [&](std::size_t i) { return reinterpret_cast<void*>(begin + i * 40 * page); };
  for (std::size_t i = 0; i < 399; i += 2) many.put(at(i), 40, i, page_shift);
  EXPECT_FALSE(many.validate(page_shift)) << many.validate(page_shift).what;
  for (std::size_t i = 1; i < 398; i += 2) many.put(at(i), 40, 1000 + i, page_shift);
  EXPECT_FALSE(many.validate(page_shift)) << many.validate(page_shift).what;
  std::size_t pages = 0;
  EXPECT_EQ(many.take_oldest(399 * 40, pages, page_shift), at(0));
  EXPECT_EQ(pages, 399u * 40);
  EXPECT_TRUE(many.empty());
}

TEST_F(JoinedSpans, GoBackInParts) {
  put(0, 100, 1);
  put(200, 20, 2);
  EXPECT_EQ(take_oldest(30, 30), 0u);
  expect_valid();
  EXPECT_EQ(take(20), 200u) << "requests are served from the other end";
  put(200, 20, 2);
  EXPECT_EQ(take_oldest(70, 70), 30u);
  EXPECT_EQ(take_oldest(100, 20), 200u);
  EXPECT_TRUE(free_.empty());
}

// Beside a map of the pages that are free.
TEST_F(JoinedSpans, CoverWhatIsFreeOnRandomTraces) {
  struct piece {
    std::size_t at, pages;
  };
  std::mt19937 random(5);
  std::vector<piece> out;
  put(0, 1024);
  std::size_t pages_out = 0;
  for (std::uint64_t step = 1; step < 20000; ++step) {
    if (random() % 2 == 0) {
      const std::size_t pages = span_sizes::rounded(17 + random() % 100);
      const std::size_t at = take(pages);
      if (at == none) continue;
      for (const piece& other : out) ASSERT_TRUE(at + pages <= other.at || other.at + other.pages <= at);
      out.push_back({at, pages});
      pages_out += pages;
    } else if (!out.empty()) {
      std::swap(out[random() % out.size()], out.back());
      pages_out -= out.back().pages;
      put(out.back().at, out.back().pages, step);
      out.pop_back();
    }
    ASSERT_EQ(pages(), 1024 - pages_out);
  }
  for (const piece& p : out) put(p.at, p.pages, 20000);
  EXPECT_EQ(pages(), 1024u);
}

TEST(SpanSizes, AreEveryPageUpTo8) {
  for (std::size_t pages = 1; pages <= 8; ++pages) EXPECT_EQ(span_sizes::rounded(pages), pages);
}

TEST(SpanSizes, HoldEveryRequestWithLessThanAThirtysecondOrAPageToSpare) {
  for (std::size_t pages = 9; pages <= span_sizes::largest; ++pages) {
    const std::size_t received = span_sizes::rounded(pages);
    ASSERT_GE(received, pages);
    ASSERT_TRUE(received - pages <= 1 || (received - pages) * 32 < pages) << pages;
    ASSERT_EQ(received % 2, 0u);
    ASSERT_EQ(span_sizes::rounded(received), received) << "the received size finds another size";
  }
}

TEST(SpanSizes, ASpanStandsInAListThatItCanServe) {
  for (std::size_t pages = 1; pages <= 100000; ++pages) {
    const std::size_t list = span_sizes::list_for(pages);
    ASSERT_LE(list, span_sizes::list_of(pages));
    if (span_sizes::rounded(pages) == pages) {
      ASSERT_EQ(list, span_sizes::list_of(pages));
    }
  }
  EXPECT_EQ(span_sizes::list_of(span_sizes::largest), span_sizes::count - 1);
  EXPECT_EQ(span_sizes::list_for(10 * span_sizes::largest), span_sizes::count - 1);
}

}  // namespace
}  // namespace mallard
