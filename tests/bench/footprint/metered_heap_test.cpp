// What ./dev footprint promises, on the fixture that is in the repository; and heaps that break it.
#include "footprint/metered_heap.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "harness/mapping.hpp"
#include "journal/open.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/heap/multipool.hpp"
#include "replay/trace/trace_builder.hpp"

namespace mallard::footprint {
namespace {

using classes = size_classes<8, 64, 4, 256>;  // 8 16 ... 64 80 96 112 128 160 192 224 256

TEST(ClassPeaks, SumPeaksThatAreNotAtTheSameTime) {
  class_peaks<classes> peaks;
  for (int i = 0; i < 3; ++i) peaks.begin(16, 8);
  for (int i = 0; i < 3; ++i) peaks.end(16, 8);
  for (int i = 0; i < 2; ++i) peaks.begin(100, 4);
  EXPECT_EQ(peaks.sum().granted, 3u * 16 + 2u * 112);
  EXPECT_EQ(peaks.sum().requested, 3u * 16 + 2u * 100);
  EXPECT_EQ(peaks.live().granted, 2u * 112);
  EXPECT_EQ(peaks.used(), 2u);
}

TEST(ClassPeaks, CountMemoryThatIsUsedAgainOnce) {
  class_peaks<classes> peaks;
  for (int i = 0; i < 10; ++i) {
    peaks.begin(24, 8);
    peaks.end(24, 8);
  }
  EXPECT_EQ(peaks.sum().granted, 24u);
  EXPECT_EQ(peaks.live().granted, 0u);
}

TEST(ClassPeaks, CountWhatPassesThroughAsItIs) {
  class_peaks<classes> peaks;
  peaks.begin(1000, 8);
  peaks.begin(8, 4096);
  peaks.end(1000, 8);
  peaks.begin(500, 8);
  EXPECT_EQ(peaks.passed_peak(), 1008u);
  EXPECT_EQ(peaks.passed_through(), 3u);
  EXPECT_EQ(peaks.sum().granted, 1008u);
  EXPECT_EQ(peaks.used(), 0u);
}

TEST(ClassPeaks, RememberTheMomentOfMostLive) {
  class_peaks<classes> peaks;
  peaks.begin(65, 1);
  peaks.begin(65, 1);
  peaks.end(65, 1);
  peaks.begin(8, 8);
  EXPECT_EQ(peaks.at_max_live().requested, 130u);
  EXPECT_EQ(peaks.at_max_live().granted, 160u);
}

TEST(ClassPeaks, ServeNothingAsAByte) {
  class_peaks<classes> peaks;
  peaks.begin(0, 1);
  EXPECT_EQ(peaks.live().requested, 1u);
  EXPECT_EQ(peaks.live().granted, 8u);
  peaks.end(0, 1);
  EXPECT_EQ(peaks.live().requested, 0u);
}

const replay::trace& fixture() {
  static const replay::trace t = replay::build_trace(*journal::open(MALLARD_FIXTURES "/cc1plus.txt.xz"));
  return t;
}

template <class Heap>
std::unique_ptr<metered_heap<Heap>> weigh() {
  auto metered = std::make_unique<metered_heap<Heap>>();
  const harness::scratch slots(fixture().facts().slots * sizeof(void*), harness::fill::before_use);
  pass<replay::touch::first>(*metered, fixture(), slots);
  return metered;
}

template <class Heap>
double held_over_sum(const metered_heap<Heap>& metered) {
  return static_cast<double>(metered.max_mapped()) / static_cast<double>(metered.peaks().sum().granted);
}

double rounding(const tally& t) { return static_cast<double>(t.granted) / static_cast<double>(t.requested); }

using coarse_classes = size_classes<128, 128, 1, 32768>;
using careless_growth = constant<(std::size_t{1} << 20)>;

TEST(MeteredHeap, MultipoolHoldsLittleMoreThanPoolsThatLoseNothing) {
  const auto metered = weigh<multipool>();
  EXPECT_LE(held_over_sum(*metered), 1.15);
  EXPECT_LE(metered->worst_held(), 1.15);
  EXPECT_LE(rounding(metered->peaks().at_max_live()), 1.10);
  EXPECT_LE(rounding(metered->peaks().sum()), 1.10);
  EXPECT_EQ(metered->peaks().at_max_live().requested, fixture().facts().max_live_bytes);
  EXPECT_EQ(metered->peaks().live().requested, 0u);
  EXPECT_LE(metered->held(), metered->max_held());
  EXPECT_LE(metered->mapped(), metered->max_mapped());
}

TEST(MeteredHeapControl, GrowthByLargeChunksIsTold) {
  using heap = basic_multipool<default_source, multipool_classes, careless_growth, careless_growth>;
  const auto metered = weigh<heap>();
  EXPECT_GT(held_over_sum(*metered), 1.15);
  EXPECT_GE(metered->worst_held(), held_over_sum(*metered));
}

TEST(MeteredHeapControl, CoarseClassesAreTold) {
  const auto metered = weigh<basic_multipool<default_source, coarse_classes>>();
  EXPECT_GT(rounding(metered->peaks().at_max_live()), 1.10);
  EXPECT_GT(rounding(metered->peaks().sum()), 1.10);
  EXPECT_GE(metered->worst_rounding(), rounding(metered->peaks().at_max_live()));
}

}  // namespace
}  // namespace mallard::footprint
