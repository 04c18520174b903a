#include "mallard/thread/thread_end.hpp"
#include "leaks_ignored.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

namespace mallard {
namespace {

void count(void* ends) { ++*static_cast<int*>(ends); }
using counted = thread_end<count>;

TEST(ThreadEnd, CallsOnceWhenAThreadEnds) {
  int ends = 0;
  std::thread([&] {
    counted::watch(&ends);
    counted::watch(&ends);
    EXPECT_EQ(ends, 0);
  }).join();
  EXPECT_EQ(ends, 1);
}

TEST(ThreadEnd, CallsNothingForThreadsThatDoNotWatch) {
  int ends = 0;
  std::thread watching([&] { counted::watch(&ends); });
  watching.join();
  std::thread([] {}).join();
  EXPECT_EQ(ends, 1);
}

TEST(ThreadEnd, CallsForAThreadThatWatchesInTheDestructorOfAKey) {
  pthread_key_t key{};
  ASSERT_EQ(::pthread_key_create(&key,
                                 [](void* ends) {
                                   const leaks_ignored here;
                                   counted::watch(ends);
                                 }),
            0);
  int ends = 0;
  std::thread([&] { ASSERT_EQ(::pthread_setspecific(key, &ends), 0); }).join();
  EXPECT_EQ(ends, 1);
  ::pthread_key_delete(key);
}

}  // namespace
}  // namespace mallard
