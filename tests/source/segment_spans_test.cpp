#include "mallard/source/segment_spans.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mallard {
namespace {

using enum segment_use;

// A table of 200 segments, of which tests put spans behind each other.
class SegmentSpans : public testing::Test {
 protected:
  SegmentSpans() { spans_.set_table(table_.data()), spans_.set_count(1); }

  // A span in use behind all others; its number.
  segment_spans::number use(std::size_t length) {
    const auto first = static_cast<segment_spans::number>(spans_.count());
    spans_.at(first)->use = large;
    spans_.at(first)->length = static_cast<segment_spans::number>(length);
    spans_.set_count(first + length);
    used_ += length;
    return first;
  }
  void free(segment_spans::number first, segment_use kind = dirty, std::uint32_t stamp = 0) {
    used_ -= spans_.at(first)->length;
    spans_.insert(first, spans_.at(first)->length, kind, stamp);
  }
  // The number of the segment that a request is served from; 0: none.
  segment_spans::number take(std::size_t length, segment_use kind = dirty) {
    segment* const s = spans_.take(length, kind);
    if (s == nullptr) return 0;
    EXPECT_EQ(s->length, length);
    s->use = large;
    used_ += length;
    return spans_.number_of(s);
  }
  const char* found_wrong() { return spans_.validate(used_).what; }

  std::vector<segment> table_{200};
  segment_spans spans_;
  std::size_t used_ = 0;
};

TEST_F(SegmentSpans, NeighboursOfOneKindAreJoined) {
  const auto a = use(2), b = use(3), c = use(4);
  use(1);
  free(a), free(c);
  EXPECT_EQ(take(5), 0u);
  free(b);
  EXPECT_EQ(spans_.dirty(), 9u);
  EXPECT_EQ(found_wrong(), nullptr);
  EXPECT_EQ(take(9), a);
  EXPECT_EQ(found_wrong(), nullptr);
}

TEST_F(SegmentSpans, DirtyAndCleanAreNot) {
  const auto a = use(2), b = use(3);
  free(a, clean), free(b, dirty);
  EXPECT_EQ(take(5, clean), 0u);
  EXPECT_EQ(take(5, dirty), 0u);
  EXPECT_EQ(spans_.dirty(), 3u);
  EXPECT_EQ(take(2, clean), a);
  EXPECT_EQ(take(3, dirty), b);
  EXPECT_EQ(found_wrong(), nullptr);
}

TEST_F(SegmentSpans, WhetherWhatIsTakenIsZeroIsTold) {
  const auto a = use(1), b = use(1);
  free(a, clean), free(b, dirty);
  EXPECT_FALSE(spans_.take(1, dirty)->is_zero);
  EXPECT_TRUE(spans_.take(1, clean)->is_zero);
}

TEST_F(SegmentSpans, TheRestOfALongSpanStaysFree) {
  const auto a = use(10);
  use(1);
  free(a);
  EXPECT_EQ(take(3), a);
  EXPECT_EQ(found_wrong(), nullptr);
  EXPECT_EQ(take(7), a + 3);
  EXPECT_EQ(take(1), 0u);
}

TEST_F(SegmentSpans, TheShortestSpanThatFitsIsTaken) {
  std::vector<segment_spans::number> all;
  for (const std::size_t length : {40u, 12u, 35u, 5u}) all.push_back(use(length)), use(1);
  for (const auto first : all) free(first);
  EXPECT_EQ(take(34), all[2]);
  EXPECT_EQ(take(5), all[3]);
  EXPECT_EQ(take(6), all[1]);
  EXPECT_EQ(take(36), all[0]);
  EXPECT_EQ(found_wrong(), nullptr);
}

TEST_F(SegmentSpans, TheOldestDirtySpanIsKnown) {
  const auto a = use(1);
  use(1);
  const auto b = use(1);
  use(1);
  EXPECT_EQ(spans_.oldest(), 0u);
  free(b), free(a);
  EXPECT_EQ(spans_.oldest(), b);
  spans_.make_oldest(spans_.at(a));
  EXPECT_EQ(spans_.oldest(), a);
  spans_.remove(spans_.at(a));
  EXPECT_EQ(spans_.oldest(), b);
}

// Otherwise what stays free would be young forever, next to what comes and goes.
TEST_F(SegmentSpans, ASpanIsAsOldAsItsSegmentsAreOnAverage) {
  for (const std::uint32_t begin :
       {1000u, UINT32_MAX - 100}) {  // milliseconds, which start anew after 50 days
    const auto idle = use(12), busy = use(4);
    use(1);
    const auto other = use(1);
    use(1);
    free(idle, dirty, begin);
    free(other, dirty, begin + 300);
    EXPECT_EQ(spans_.oldest(), idle);
    for (int i = 0; i != 20; ++i) {
      free(busy, dirty, begin + 400);
      EXPECT_EQ(spans_.at(idle)->stamp - begin, 100u);
      EXPECT_EQ(spans_.oldest(), idle);
      ASSERT_EQ(take(16), idle);
      spans_.at(idle)->length = 12;
      spans_.at(busy)->use = large;
      spans_.at(busy)->length = 4;
      free(idle, dirty, begin);
    }
    EXPECT_EQ(found_wrong(), nullptr);
    take(12), take(1);
  }
}

TEST_F(SegmentSpans, TheRecentSpanWaitsForARequestOfItsLengthAndIsListedOtherwise) {
  const auto a = use(2), b = use(3);
  use(1);
  free(a);
  spans_.keep_recent(spans_.at(b), 7);
  used_ -= 3;
  EXPECT_EQ(spans_.recent(), 3u);
  EXPECT_EQ(spans_.dirty(), 2u);
  EXPECT_EQ(found_wrong(), nullptr);
  EXPECT_EQ(spans_.take_recent(2), nullptr);
  EXPECT_EQ(take(5), 0u);
  ASSERT_EQ(spans_.take_recent(3), spans_.at(b));
  EXPECT_EQ(spans_.recent(), 0u);
  spans_.keep_recent(spans_.at(b), 10);
  spans_.list_recent();
  spans_.list_recent();
  EXPECT_EQ(spans_.recent(), 0u);
  EXPECT_EQ(spans_.dirty(), 5u);
  EXPECT_EQ(spans_.at(a)->stamp, 6u) << "the mean of 0 and 10";
  EXPECT_EQ(take(5), a);
}

TEST_F(SegmentSpans, DamageIsFound) {
  const auto a = use(4);
  use(1);
  free(a);
  ASSERT_EQ(found_wrong(), nullptr);
  ++spans_.at(a)->length;
  EXPECT_NE(found_wrong(), nullptr);
  --spans_.at(a)->length;
  spans_.at(a + 3)->use = clean;
  EXPECT_NE(found_wrong(), nullptr);
  spans_.at(a + 3)->use = dirty;
  spans_.at(a)->next = a;
  EXPECT_NE(found_wrong(), nullptr);
  spans_.at(a)->next = 0;
  EXPECT_EQ(found_wrong(), nullptr);
  ++used_;
  EXPECT_NE(found_wrong(), nullptr);
  --used_;
  spans_.at(a + 4)->use = recent;
  EXPECT_NE(found_wrong(), nullptr);
}

}  // namespace
}  // namespace mallard
