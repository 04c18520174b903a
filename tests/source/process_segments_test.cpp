#include "mallard/source/process_segments.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "mallard/heap/segment_heap.hpp"

namespace mallard {
namespace {

constinit segment_heap of_the_program;

TEST(ProcessSegments, AreThoseOfEveryHeap) {
  segment_heap other;
  for (segment_heap* const heap : {&of_the_program, &other}) {
    const std::size_t used = process_segments().usage().used;
    const block b = heap->allocate(100000, 8);
    EXPECT_TRUE(heap->owns(b.data));
    EXPECT_EQ(process_segments().usage().used, used + 2 * segments::segment_bytes);
    heap->deallocate(b.data);
  }
}

// A fork waits for the thread that has their lock, which lets it go some time after the fork has begun:
// handlers that were installed later are called first. An alarm ends a child that would wait for it.
std::atomic<bool> is_inside;
std::atomic<bool> is_forking;

TEST(ProcessSegments, AChildFindsThemIntact) {
  std::thread([] {
    const auto guard = process_segments().lock();
    is_inside = true;
    while (!is_forking) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    is_inside = false;
  }).detach();
  while (!is_inside) std::this_thread::yield();
  ASSERT_EQ(::pthread_atfork([] { is_forking = true; }, nullptr, nullptr), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    segment_heap heap;
    ::_exit(!is_inside && heap.allocate(100000, 8) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mallard
