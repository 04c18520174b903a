#include "mallard/source/process_chunks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "source/process_chunks_library.hpp"

namespace mallard {
namespace {

constexpr std::size_t bytes = 123 * 4096;

void* take_and_keep() {
  const block chunk = process_chunks().allocate(bytes, 8);
  process_chunks().deallocate(chunk.data, bytes, 8);
  return chunk.data;
}

// Forks a child that uses the cache; it must not take long.
int exit_status_of_a_child() {
  ::alarm(60);  // for the parent: a fork that waits for a lock waits for ever
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(take_and_keep() != nullptr && !process_chunks().validate() ? 0 : 1);
  }
  ::alarm(0);
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

// Ends after main, and was there before it.
struct static_user {
  static_user() : chunk(process_chunks().allocate(bytes, 8)) {}
  ~static_user() {
    process_chunks().deallocate(chunk.data, bytes, 8);
    if (take_and_keep() == nullptr) std::_Exit(1);
  }
  block chunk;
} before_and_after_main;

TEST(ProcessChunks, AreThereBeforeMain) { EXPECT_TRUE(before_and_after_main.chunk); }

TEST(ProcessChunks, AreOneCacheForAllThreads) {
  void* const here = take_and_keep();
  void* there = nullptr;
  std::thread([&] { there = take_and_keep(); }).join();
  EXPECT_EQ(here, there);
}

// Each library has its own copy of the code, and none of the state: a fork would take the lock twice.
TEST(ProcessChunks, AreOneCacheForLibrariesThatHideTheirSymbols) {
  EXPECT_EQ(&libraries::first(), &process_chunks());
  EXPECT_EQ(&libraries::second(), &process_chunks());
  EXPECT_EQ(exit_status_of_a_child(), 0);
}

// A child finds an unlocked cache, however busy other threads are at the moment of the fork.
TEST(ProcessChunks, SurviveAForkWhileOtherThreadsAreBusy) {
  std::atomic<bool> done = false;
  std::vector<std::thread> busy;
  for (int i = 0; i < 3; ++i)
    busy.emplace_back([&] {
      while (!done) take_and_keep();
    });
  int status = 0;
  for (int i = 0; i < 50 && status == 0; ++i) {
    status = exit_status_of_a_child();
  }
  done = true;
  for (std::thread& t : busy) t.join();
  EXPECT_EQ(status, 0) << "a child found the cache taken, or broken";
}

}  // namespace
}  // namespace mallard
