#include "mallard/core/counters.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace mallard {
namespace {

template <class T>
class Counter : public testing::Test {
 protected:
  T counter_;
};

using kinds = testing::Types<counter<false>, counter<true>>;
TYPED_TEST_SUITE(Counter, kinds);

TYPED_TEST(Counter, KnowsWhatLivesLivedAtTheMostAndInAll) {
  this->counter_.add(5);
  this->counter_.add(3);
  this->counter_.remove(5);
  EXPECT_EQ(this->counter_.read(), (counters{3, 8, 8}));
  this->counter_.add(1);
  EXPECT_EQ(this->counter_.read(), (counters{4, 8, 9}));
}

TYPED_TEST(Counter, LetsThePeakStartAgainFromWhatLives) {
  this->counter_.add(8);
  this->counter_.remove(6);
  this->counter_.reset_peak();
  EXPECT_EQ(this->counter_.read(), (counters{2, 2, 8}));
  this->counter_.add(1);
  EXPECT_EQ(this->counter_.read().peak, 3u);
}

TYPED_TEST(Counter, EndsAllAtOnceAndKeepsPeakAndTotal) {
  this->counter_.add(8);
  this->counter_.remove_all();
  EXPECT_EQ(this->counter_.read(), (counters{0, 8, 8}));
}

TYPED_TEST(Counter, CountsAChangeByItsDifference) {
  this->counter_.add(8);
  this->counter_.change(8, 20);
  EXPECT_EQ(this->counter_.read(), (counters{20, 20, 20}));
  this->counter_.change(20, 5);
  EXPECT_EQ(this->counter_.read(), (counters{5, 20, 20}));
}

TYPED_TEST(Counter, ReadsAsNothingWhenMoreWasRemovedThanAdded) {
  this->counter_.add(8);
  this->counter_.remove(16);
  EXPECT_EQ(this->counter_.read().live, 0u);
  this->counter_.reset_peak();
  this->counter_.add(1);
  EXPECT_EQ(this->counter_.read(), (counters{0, 0, 9}));
}

TEST(SharedCounter, LosesNothingThatThreadsCountAtOnce) {
  counter<true> shared;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&shared] {
      for (int i = 0; i < 20000; ++i) {
        shared.add(3);
        shared.remove(2);
      }
    });
  for (std::thread& t : threads) t.join();
  const counters found = shared.read();
  EXPECT_EQ(found.live, 80000u);
  EXPECT_EQ(found.total, 240000u);
  EXPECT_GE(found.peak, 80000u);
  EXPECT_LE(found.peak, 80000u + 4 * 3);
}

}  // namespace
}  // namespace mallard
