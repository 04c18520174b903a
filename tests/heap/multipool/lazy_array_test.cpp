#include "mallard/heap/multipool/lazy_array.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace mallard {
namespace {

struct counter {
  int count = 7;
};

using counters = lazy_array<counter, 130>;

class LazyArray : public testing::Test {
 protected:
  // What lies in its memory before it begins is not zero.
  void* soiled() { return std::memset(place_, 0xff, sizeof place_); }

  alignas(counters) std::byte place_[sizeof(counters)];
  counters& array_ = *::new (soiled()) counters;
};

TEST_F(LazyArray, ReadsAsFreshValuesBeforeTheyAreUsed) {
  for (std::size_t i = 0; i < 130; ++i) EXPECT_EQ(array_[i].count, 7) << i;
}

TEST_F(LazyArray, KeepsWhatIsWrittenAndNothingElseBegins) {
  for (const std::size_t i : {0u, 63u, 64u, 129u}) array_.use(i).count = static_cast<int>(i) + 100;
  for (const std::size_t i : {0u, 63u, 64u, 129u}) {
    EXPECT_EQ(array_[i].count, static_cast<int>(i) + 100);
    EXPECT_EQ(array_.use(i).count, static_cast<int>(i) + 100);
  }
  for (const std::size_t i : {1u, 62u, 65u, 128u}) EXPECT_EQ(array_[i].count, 7) << i;
  for (const std::size_t i : {0u, 63u, 64u, 129u}) EXPECT_TRUE(array_.has_begun(i)) << i;
  for (const std::size_t i : {1u, 62u, 65u, 128u}) EXPECT_FALSE(array_.has_begun(i)) << i;
}

TEST_F(LazyArray, WritesNoValueWhenItBegins) {
  std::size_t written = 0;
  for (const std::byte b : place_) written += static_cast<std::size_t>(b != std::byte{0xff});
  EXPECT_LE(written, 3 * sizeof(std::uint64_t));
}

TEST_F(LazyArray, ClearEndsAllValues) {
  for (std::size_t i = 0; i < 130; ++i) array_.use(i).count = 1;
  array_.clear();
  EXPECT_FALSE(array_.has_begun(129));
  EXPECT_EQ(array_[129].count, 7);
  EXPECT_EQ(array_.use(64).count, 7);
}

TEST(LazyArrayOfNothing, HasNothingToEnd) {
  lazy_array<counter, 0> none;
  none.clear();
}

}  // namespace
}  // namespace mallard
