#include "mallard/core/exact_bins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "core/tagged_region.hpp"

namespace mallard {
namespace {

bool is_whole(const exact_bins& bins, std::size_t blocks) {
  std::size_t seen = 0;
  const bool whole = bins.each([&](const boundary_tag*, std::size_t) { return ++seen != 0; });
  return whole && seen == blocks;
}

TEST(ExactBins, GivesTheSmallestThatIsLargeEnough) {
  tagged_region<4096> region;
  exact_bins bins;
  boundary_tag* b = region.divide(1008);
  for (std::size_t size : {48u, 1008u, 320u}) {
    bins.put(b, size);
    b = b->next();
  }
  EXPECT_EQ(bins.at_least(32), region.first());
  EXPECT_EQ(bins.at_least(48), region.first());
  EXPECT_EQ(bins.at_least(64), region.first()->at(2 * 1008));
  EXPECT_EQ(bins.at_least(336), region.first()->at(1008));
  EXPECT_TRUE(is_whole(bins, 3));
}

TEST(ExactBins, OfOneSizeTheLastIsGivenFirst) {
  tagged_region<128> region;
  exact_bins bins;
  boundary_tag* const first = region.divide(64);
  bins.put(first, 64);
  bins.put(first->next(), 64);
  EXPECT_EQ(bins.at_least(64), first->next());
}

TEST(ExactBins, AnyBlockIsTakenOut) {
  tagged_region<192> region;
  exact_bins bins;
  boundary_tag* const first = region.divide(64);
  boundary_tag* const second = first->next();
  boundary_tag* const third = second->next();
  for (boundary_tag* b : {first, second, third}) bins.put(b, 64);
  exact_bins::remove(second);
  EXPECT_TRUE(is_whole(bins, 2));
  exact_bins::remove(third);
  EXPECT_EQ(bins.at_least(32), first);
  exact_bins::remove(first);
  EXPECT_EQ(bins.at_least(32), nullptr);
  bins.put(second, 64);
  EXPECT_EQ(bins.at_least(32), second) << "used again after it ran empty";
}

TEST(ExactBins, ClearDropsAll) {
  tagged_region<128> region;
  exact_bins bins;
  bins.put(region.divide(64), 64);
  bins.clear();
  EXPECT_EQ(bins.at_least(32), nullptr);
  EXPECT_TRUE(is_whole(bins, 0));
}

// What lies in their memory before they begin is not zero.
TEST(ExactBins, BeginWhereNothingIsWritten) {
  alignas(exact_bins) std::byte place[sizeof(exact_bins)];
  exact_bins& bins = *::new (std::memset(place, 0xff, sizeof place)) exact_bins;
  const auto written =
      std::count_if(place, std::end(place), [](std::byte b) { return b != std::byte{0xff}; });
  EXPECT_LE(written, 8);
  EXPECT_EQ(bins.at_least(32), nullptr);
  tagged_region<128> region;
  boundary_tag* const first = region.divide(64);
  bins.put(first, 64);
  bins.put(first->next(), 64);
  EXPECT_EQ(bins.at_least(48), first->next());
  EXPECT_TRUE(is_whole(bins, 2));
}

TEST(ExactBins, ABrokenLinkIsSeen) {
  tagged_region<128> region;
  exact_bins bins;
  boundary_tag* const first = region.divide(64);
  bins.put(first, 64);
  bins.put(first->next(), 64);
  static_cast<void**>(first->data())[1] = first->data();
  EXPECT_FALSE(is_whole(bins, 2));
}

}  // namespace
}  // namespace mallard
