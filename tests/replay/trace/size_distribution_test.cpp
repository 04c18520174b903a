#include "replay/trace/size_distribution.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

TEST(SizeDistribution, CountsWhatIsAskedForNotWhatIsFreed) {
  const trace t = events()
                      .malloc(1, 0)
                      .malloc(2, 16)
                      .calloc(3, 17)
                      .memalign(4, 20, 64)
                      .realloc(2, 5, 21)
                      .free(3)
                      .free(4)
                      .malloc(6, 1 << 20)
                      .build();
  EXPECT_EQ(size_distribution(t),
            (std::vector<size_count>{
                {0, 0, 1}, {16, 16, 1}, {17, 20, 2}, {21, 24, 1}, {(7 << 17) + 1, 1 << 20, 1}}));
}

TEST(SizeDistribution, EachSizeIsInOneBucketAndNoneIsWiderThanAQuarterOfItsSizes) {
  std::uint64_t next = 0;
  while (next < std::uint64_t{1} << 40) {
    const size_count bucket = detail::bucket_of(next);
    ASSERT_EQ(bucket.from, next);
    ASSERT_GE(bucket.to, bucket.from);
    EXPECT_EQ(detail::bucket_of(bucket.to).from, bucket.from);
    EXPECT_LE(bucket.to - bucket.from, bucket.to / 4);
    next = bucket.to + 1;
  }
}

TEST(SizeDistribution, OfThreadsEveryThreadCounts) {
  events history;
  for (std::uint32_t thread : {1u, 2u, 3u}) history.on_thread(thread).malloc(thread, 100);
  const trace t = history.schedule();
  EXPECT_EQ(size_distribution(t), (std::vector<size_count>{{97, 112, 3}}));
}

}  // namespace
}  // namespace mallard::replay
