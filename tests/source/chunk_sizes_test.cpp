#include "mallard/source/chunk_sizes.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

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
