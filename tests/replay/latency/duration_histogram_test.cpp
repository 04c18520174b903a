#include "replay/latency/duration_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace mallard::replay {
namespace {

constexpr unsigned parts[]{1, 2500, 5000, 9000, 9900, 9990, 9999, 10'000};

// The nearest rank, by sorting.
std::uint32_t exact(std::vector<std::uint32_t> durations, unsigned of_10000) {
  std::ranges::sort(durations);
  const std::size_t rank = (durations.size() * of_10000 + 9999) / 10'000;
  return durations[rank - 1];
}

std::unique_ptr<duration_histogram> histogram_of(const std::vector<std::uint32_t>& durations) {
  auto h = std::make_unique<duration_histogram>();
  for (const std::uint32_t d : durations) h->add(d);
  return h;
}

TEST(DurationHistogram, ShortDurationsAreExact) {
  std::mt19937 random(1);
  for (const std::size_t count : {1u, 2u, 3u, 99u, 10'000u, 10'001u}) {
    std::vector<std::uint32_t> durations(count);
    for (std::uint32_t& d : durations) d = random() % 256;
    const auto h = histogram_of(durations);
    EXPECT_EQ(h->count(), count);
    for (const unsigned part : parts)
      EXPECT_EQ(h->percentile(part), exact(durations, part)) << count << " " << part;
  }
}

TEST(DurationHistogram, LongOnesAreNeverTooLowAndAtMostOnePercentTooHigh) {
  std::mt19937 random(2);
  for (const unsigned bits : {9u, 12u, 20u, 31u, 32u}) {
    std::vector<std::uint32_t> durations(5000);
    for (std::uint32_t& d : durations)
      d = static_cast<std::uint32_t>(random() >> (32 - bits) >> random() % bits);
    const auto h = histogram_of(durations);
    for (const unsigned part : parts) {
      const std::uint32_t truth = exact(durations, part);
      EXPECT_GE(h->percentile(part), truth) << bits << " " << part;
      EXPECT_LE(h->percentile(part), 1.01 * truth) << bits << " " << part;
    }
    EXPECT_EQ(h->longest(), std::ranges::max(durations));
    EXPECT_EQ(h->percentile(10'000), h->longest());
  }
}

// Each bucket begins behind the one before it: no duration is lost between two, up to the longest there is.
TEST(DurationHistogram, EveryDurationLiesInItsBucket) {
  for (std::uint64_t d = 1; d <= 0xffff'ffff; d += 1 + d / 1000) {
    duration_histogram h;
    h.add(static_cast<std::uint32_t>(d));
    h.add(0xffff'ffff);
    EXPECT_GE(h.percentile(5000), d);
    EXPECT_LE(h.percentile(5000), d + d / 128) << d;
  }
}

TEST(DurationHistogram, ClearedItIsEmpty) {
  const auto h = histogram_of({7, 1'000'000});
  h->clear();
  EXPECT_EQ(h->count(), 0u);
  EXPECT_EQ(h->longest(), 0u);
  EXPECT_EQ(h->percentile(9999), 0u);
}

}  // namespace
}  // namespace mallard::replay
