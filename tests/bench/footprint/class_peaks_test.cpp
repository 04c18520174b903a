#include "footprint/class_peaks.hpp"

#include <gtest/gtest.h>

#include "mallard/core/size_classes.hpp"

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

}  // namespace
}  // namespace mallard::footprint
