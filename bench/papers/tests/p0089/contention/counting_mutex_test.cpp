#include "p0089/contention/counting_mutex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace mallard::bench {
namespace {

// Tells when somebody has found it taken and is about to wait.
class telling_mutex {
 public:
  static inline std::atomic<int> waiting = 0;

  bool try_lock() { return inner_.try_lock(); }
  void lock() {
    ++waiting;
    waiting.notify_all();
    inner_.lock();
  }
  void unlock() { inner_.unlock(); }

 private:
  std::mutex inner_;
};

lock_counts since(const lock_counts& before) { return lock_counts_of_process() - before; }

TEST(CountingMutex, CountsNoFailureWhereNobodyElseIs) {
  const lock_counts before = lock_counts_of_process();
  {
    counting_mutex<telling_mutex> mutex;
    for (int i = 0; i < 5; ++i) const std::lock_guard guard(mutex);
  }
  EXPECT_EQ(since(before).attempts, 5u);
  EXPECT_EQ(since(before).failures, 0u);
}

TEST(CountingMutex, CountsWhoFoundItTaken) {
  const lock_counts before = lock_counts_of_process();
  telling_mutex::waiting = 0;
  {
    counting_mutex<telling_mutex> mutex;
    mutex.lock();
    const auto pass = [&] { const std::lock_guard guard(mutex); };
    std::jthread one(pass);
    std::jthread other(pass);
    for (int seen = 0; (seen = telling_mutex::waiting) < 2;) telling_mutex::waiting.wait(seen);
    mutex.unlock();
    one.join();
    other.join();
    mutex.lock();
    mutex.unlock();
  }
  EXPECT_EQ(since(before).attempts, 4u);
  EXPECT_EQ(since(before).failures, 2u);
}

TEST(CountingMutex, WhoDoesNotWaitCountsOnlyIfItIsFree) {
  const lock_counts before = lock_counts_of_process();
  {
    counting_mutex<telling_mutex> mutex;
    ASSERT_TRUE(mutex.try_lock());
    std::jthread([&] { EXPECT_FALSE(mutex.try_lock()); }).join();
    mutex.unlock();
  }
  EXPECT_EQ(since(before).attempts, 1u);
  EXPECT_EQ(since(before).failures, 0u);
}

TEST(CountingMutex, KeepsOthersOut) {
  int guarded = 0;
  counting_mutex<std::mutex> mutex;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      const std::lock_guard guard(mutex);
      ++guarded;
    }
  };
  {
    const std::jthread one(add);
    const std::jthread other(add);
  }
  EXPECT_EQ(guarded, 2000);
}

}  // namespace
}  // namespace mallard::bench
