#include "mallard/source/thread_end.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

// A thread_local that is first used in a key's destructor is never destroyed; glibc keeps its record of it.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is the sanitizer's
extern "C" const char* __lsan_default_suppressions() { return "leak:libc.so.6"; }

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
  ASSERT_EQ(::pthread_key_create(&key, [](void* ends) { counted::watch(ends); }), 0);
  int ends = 0;
  std::thread([&] { ASSERT_EQ(::pthread_setspecific(key, &ends), 0); }).join();
  EXPECT_EQ(ends, 1);
  ::pthread_key_delete(key);
}

}  // namespace
}  // namespace mallard
