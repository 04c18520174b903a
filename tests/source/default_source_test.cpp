#include "mallard/source/default_source.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "mallard/core/concepts.hpp"

// The process's cache as two libraries see it.
extern "C" mallard::chunk_cache* first_librarys_chunks() noexcept;
extern "C" mallard::chunk_cache* second_librarys_chunks() noexcept;

namespace mallard {
namespace {

static_assert(heap<default_source> && counted<default_source> && predictable<default_source>);

TEST(DefaultSource, CountsTheWholePagesThatItHandsOut) {
  default_source source;
  const block page = source.allocate(1, 1);
  EXPECT_EQ(source.held(), page.size);
  EXPECT_EQ(page.size, os_pages::page_size());
  source.deallocate(page.data, 1, 1);
  EXPECT_EQ(source.held(), 0u) << "what the process caches is held by no heap";
}

TEST(DefaultSource, SharesChunksWithAllOthers) {
  default_source first;
  default_source second;
  const block chunk = first.allocate(100000, 1);
  first.deallocate(chunk.data, 100000, 1);
  EXPECT_EQ(second.allocate(100000, 1), chunk);
  second.deallocate(chunk.data, chunk.size, 1);
}

static_assert(heap<cached_pages> && predictable<cached_pages> && concurrent<cached_pages>);
static_assert(!layered<cached_pages> && std::is_empty_v<cached_pages>);

long faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(CachedPages, GivesWholePages) {
  cached_pages pages;
  const std::size_t page = os_pages::page_size();
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, page, page + 1, 10 * page}) {
    const block b = pages.allocate(size, 1);
    ASSERT_TRUE(b);
    EXPECT_TRUE(is_aligned(b.data, page));
    EXPECT_EQ(b.size, align_up(size == 0 ? 1 : size, page));
    EXPECT_EQ(pages.received_size(size, 1), b.size);
    std::memset(b.data, 1, b.size);
    pages.deallocate(b.data, size, 1);
  }
}

TEST(CachedPages, OfOneServeAnotherAndCostNoFaultAgain) {
  constexpr std::size_t size = std::size_t{1} << 20;
  void* chunk = nullptr;
  {
    cached_pages first;
    const block b = first.allocate(size, 8);
    std::memset(b.data, 1, b.size);
    first.deallocate(b.data, size, 8);
    chunk = b.data;
  }
  cached_pages second;
  const long before = faults();
  const block b = second.allocate(size, 8);
  std::memset(b.data, 2, b.size);
  EXPECT_LT(faults() - before, 16) << "a fault for each of 256 pages";
  EXPECT_EQ(b.data, chunk);
  second.deallocate(b.data, size, 8);
}

TEST(CachedPages, AreMappedAnewWhereTheCacheIsSwitchedOff) {
  process_chunks().set_limit(0);
  cached_pages pages;
  const block b = pages.allocate(7, 8);
  pages.deallocate(b.data, 7, 8);
  EXPECT_EQ(process_chunks().cached(), 0u);
  process_chunks().set_limit(chunk_cache::default_limit);
}

constexpr std::size_t bytes = 123 * 4096;

void* take_and_keep() {
  const block chunk = process_chunks().allocate(bytes, 8);
  process_chunks().deallocate(chunk.data, bytes, 8);
  return chunk.data;
}

// Forks a child that uses the cache; it must not take long.
int exit_status_of_a_child() {
  ::alarm(60);  // for the parent: a fork that waits for a lock waits forever
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
  EXPECT_EQ(first_librarys_chunks(), &process_chunks());
  EXPECT_EQ(second_librarys_chunks(), &process_chunks());
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
