#include "mallard/core/light_mutex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace mallard {
namespace {

static_assert(std::is_trivially_destructible_v<light_mutex> && sizeof(light_mutex) == 4);

constinit light_mutex before_main;

TEST(LightMutex, IsTakenByOne) {
  EXPECT_TRUE(before_main.try_lock());
  EXPECT_FALSE(before_main.try_lock());
  before_main.unlock();
  EXPECT_TRUE(before_main.try_lock());
  before_main.unlock();
}

// A plain counter, changed in two steps: a thread in between would be seen.
TEST(LightMutex, LetsOneThreadInAtATime) {
  light_mutex mutex;
  long count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5000; ++turn) {
        const std::lock_guard locked(mutex);
        const long before = *static_cast<volatile long*>(&count);
        if (turn % 64 == 0) std::this_thread::yield();
        count = before + 1;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, 8 * 5000);
}

// Those who sleep while it is taken all get it, one after another, also where the one that has it was the
// only thread when it took it.
TEST(LightMutex, WakesEveryoneWhoWaits) {
  light_mutex mutex;
  int served = 0;
  std::vector<std::thread> threads;
  mutex.lock();
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const std::lock_guard locked(mutex);
      ++served;
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(served, 0);
  mutex.unlock();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(served, 4);
  EXPECT_TRUE(mutex.try_lock()) << "it was left taken";
  mutex.unlock();
}

}  // namespace
}  // namespace mallard
