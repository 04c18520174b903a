#include "mallard/thread/thread_table.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "leaks_ignored.hpp"
#include "thread/thread_table_elsewhere.hpp"

namespace mallard {
namespace {

// A heap's stake in a thread, which notes that its thread has ended.
struct stake : attachment {
  stake() = default;
  ~stake() {
    const std::lock_guard guard(ends_mutex);
    if (attached()) detach();
  }

  [[nodiscard]] bool attach() {
    if (!this_threads_table.reserve()) return false;
    const std::lock_guard guard(ends_mutex);
    this_threads_table.attach(*this, key, [](attachment& a, end by) noexcept {
      static_cast<stake&>(a).retired = true;
      static_cast<stake&>(a).by_fork = by == end::by_fork;
    });
    return true;
  }

  std::uint64_t key = thread_table::new_key();
  bool retired = false;
  bool by_fork = false;
};

attachment* found(std::uint64_t key) {
  attachment* const inlined = this_threads_table.find(key);
  attachment* const anywhere = this_threads_table.search(key);
  EXPECT_TRUE(inlined == nullptr || inlined == anywhere);
  return anywhere;
}

// Each test has a thread of its own, whose table is new.
template <class F>
void on_a_new_thread(F f) {
  std::thread(f).join();
}

TEST(ThreadTable, FindsNothingBeforeAnythingIsAttached) {
  on_a_new_thread([] {
    EXPECT_EQ(found(thread_table::new_key()), nullptr);
    EXPECT_EQ(this_threads_table.capacity(), 1u);
  });
}

TEST(ThreadTable, OnlyWhatWasRememberedLastIsFoundSo) {
  on_a_new_thread([] {
    stake a;
    stake b;
    ASSERT_TRUE(a.attach() && b.attach());
    EXPECT_EQ(this_threads_table.find_last(a.key), nullptr);
    this_threads_table.remember(a);
    EXPECT_EQ(this_threads_table.find_last(a.key), &a);
    this_threads_table.remember(b);
    EXPECT_EQ(this_threads_table.find_last(a.key), nullptr);
    EXPECT_EQ(this_threads_table.find_last(b.key), &b);
  });
}

// Heaps that go on without a thread are not found by it, in whichever slot they were.
TEST(ThreadTable, WhatAThreadDetachesIsNotFoundAnyMore) {
  on_a_new_thread([] {
    std::deque<stake> stakes(100);
    for (stake& s : stakes) ASSERT_TRUE(s.attach());
    for (std::size_t i = 0; i < stakes.size(); i += 2) {
      this_threads_table.remember(stakes[i]);
      {
        const std::lock_guard guard(ends_mutex);
        this_threads_table.detach(stakes[i]);
      }
      EXPECT_EQ(this_threads_table.find_last(stakes[i].key), nullptr);
    }
    for (std::size_t i = 0; i < stakes.size(); ++i)
      EXPECT_EQ(found(stakes[i].key), i % 2 == 0 ? nullptr : &stakes[i]) << i;
    for (std::size_t i = 0; i < stakes.size(); i += 2) ASSERT_TRUE(stakes[i].attach());
    for (stake& s : stakes) EXPECT_EQ(found(s.key), &s);
  });
}

TEST(ThreadTable, KeysAreNeverTheSame) {
  std::set<std::uint64_t> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(thread_table::new_key());
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_EQ(keys.count(0), 0u);
}

// Heaps may be used, and end, in code of any shared object.
TEST(ThreadTable, ThereIsOneOfAThreadInAllSharedObjects) {
  on_a_new_thread([] {
    const seen_elsewhere seen = see_elsewhere();
    EXPECT_EQ(seen.ends, &ends_mutex);
    EXPECT_EQ(seen.table, &this_threads_table);
    EXPECT_LT(seen.key, thread_table::new_key());
  });
}

// What is kept for a thread, and then for the next one, refers to nothing of the code that made it.
TEST(ThreadTable, AHeapPassesFromOneSharedObjectToAnother) {
  synchronized_multipool heap;
  on_a_new_thread([&] { EXPECT_FALSE(use_elsewhere(heap)); });
  EXPECT_FALSE(heap.validate());
  on_a_new_thread([&] {
    heap.deallocate(heap.allocate(96, 8).data, 96, 8);
    EXPECT_FALSE(use_elsewhere(heap));
    EXPECT_FALSE(heap.validate());
  });
}

TEST(ThreadTable, FindsEachOfManyInlineOrNot) {
  on_a_new_thread([] {
    std::deque<stake> stakes(5000);
    std::size_t inlined = 0;
    for (stake& s : stakes) {
      EXPECT_EQ(found(s.key), nullptr);
      ASSERT_TRUE(s.attach());
      ASSERT_EQ(found(s.key), &s);
    }
    for (const stake& s : stakes) {
      ASSERT_EQ(found(s.key), &s);
      if (this_threads_table.find(s.key) != nullptr) ++inlined;
    }
    EXPECT_EQ(inlined, stakes.size()) << "keys of one after the other have slots of their own";
    EXPECT_LE(this_threads_table.capacity(), 8 * stakes.size());
  });
}

TEST(ThreadTable, AFewNeedNoMemory) {
  on_a_new_thread([] {
    std::deque<stake> stakes(4);
    for (stake& s : stakes) ASSERT_TRUE(s.attach());
    EXPECT_EQ(this_threads_table.capacity(), 8u);
  });
}

TEST(ThreadTable, HeapsThatEndLeaveNoTrace) {
  on_a_new_thread([] {
    stake lasting;
    ASSERT_TRUE(lasting.attach());
    for (int i = 0; i < 10000; ++i) {
      stake ending;
      ASSERT_TRUE(ending.attach());
    }
    EXPECT_EQ(this_threads_table.capacity(), 8u);
    EXPECT_EQ(found(lasting.key), &lasting);
  });
}

TEST(ThreadTable, OthersInTheSameSlotAreFoundOutOfLine) {
  on_a_new_thread([] {
    stake first;
    stake second;
    second.key = first.key + 8 * sizeof(thread_slot);  // a table of 8 begins with the same slot
    ASSERT_TRUE(first.attach());
    ASSERT_TRUE(second.attach());
    EXPECT_EQ(this_threads_table.find(second.key), nullptr);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(found(first.key), &first);
      EXPECT_EQ(this_threads_table.find(first.key), &first) << "who is searched for has the slot";
      EXPECT_EQ(found(second.key), &second);
      EXPECT_EQ(this_threads_table.find(second.key), &second);
    }
    const std::uint64_t third = second.key + 8 * sizeof(thread_slot);
    EXPECT_EQ(found(third), nullptr);
  });
}

TEST(ThreadTable, TheEndOfAThreadRetiresWhatIsAttached) {
  stake ended;
  stake stays;
  on_a_new_thread([&] {
    ASSERT_TRUE(ended.attach());
    ASSERT_TRUE(stays.attach());
    const std::lock_guard guard(ends_mutex);
    stays.detach();
  });
  EXPECT_TRUE(ended.retired);
  EXPECT_FALSE(stays.retired);
  const std::lock_guard guard(ends_mutex);
  EXPECT_FALSE(ended.attached());
}

// Destructors of a thread's variables may use heaps after the table has ended.
struct late_user {
  bool* attached;
  ~late_user() {
    stake s;
    *attached = s.attach();
    EXPECT_EQ(found(s.key), nullptr);
  }
};

TEST(ThreadTable, AThreadInItsLastDestructorsAttachesToNothing) {
  bool attached = true;
  on_a_new_thread([&] {
    thread_local const late_user last{&attached};
    stake s;
    ASSERT_TRUE(s.attach());
    EXPECT_EQ(last.attached, &attached);
  });
  EXPECT_FALSE(attached);
}

// The first heap that a thread uses may be one that a destructor of a pthread key frees into.
TEST(ThreadTable, TheEndOfAThreadRetiresWhatIsAttachedInDestructorsOfKeys) {
  stake last;
  pthread_key_t key{};
  ASSERT_EQ(::pthread_key_create(&key,
                                 [](void* s) {
                                   const leaks_ignored here;
                                   EXPECT_TRUE(static_cast<stake*>(s)->attach());
                                 }),
            0);
  on_a_new_thread([&] { ASSERT_EQ(::pthread_setspecific(key, &last), 0); });
  EXPECT_TRUE(last.retired);
  ::pthread_key_delete(key);
}

// Runs `f` in a child, which ends with its answer; true if that was 0 within time.
template <class F>
bool child_succeeds(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(f());
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ThreadTable, AForkRetiresWhatIsAttachedToThreadsThatTheChildHasNot) {
  stake mine;
  std::deque<stake> theirs(3);
  ASSERT_TRUE(mine.attach());
  std::latch attached(2);
  std::latch forked(1);
  std::thread some([&] {
    EXPECT_TRUE(theirs[0].attach() && theirs[1].attach());
    attached.count_down();
    forked.wait();
  });
  std::thread other([&] {
    EXPECT_TRUE(theirs[2].attach());
    attached.count_down();
    forked.wait();
  });
  attached.wait();
  EXPECT_TRUE(child_succeeds([&] {
    const std::lock_guard guard(ends_mutex);
    for (const stake& s : theirs)
      if (!s.retired || !s.by_fork || s.attached()) return 1;
    if (mine.retired || !mine.attached() || !mine.is_linked()) return 2;
    return found(mine.key) == &mine ? 0 : 3;
  }));
  {
    const std::lock_guard guard(ends_mutex);
    for (const stake& s : theirs) EXPECT_TRUE(!s.retired && s.attached());
  }
  forked.count_down();
  some.join();
  other.join();
  for (const stake& s : theirs) EXPECT_TRUE(s.retired && !s.by_fork);
}

// A child finds the lock free, even if another thread held it at the moment of the fork.
TEST(ThreadTable, AForkWaitsForTheLock) {
  std::atomic<bool> done = false;
  std::thread busy([&] {
    while (!done) {
      stake s;
      EXPECT_TRUE(s.attach());
    }
  });
  for (int i = 0; i < 200; ++i)
    if (!child_succeeds([] { return ends_mutex.try_lock() ? 0 : 1; })) {
      ADD_FAILURE() << "fork " << i;
      break;
    }
  done = true;
  busy.join();
}

// Others may meet and leave heaps while a thread with many ends.
TEST(ThreadTable, AThreadWithManyHeapsEndsAllOfThem) {
  std::deque<stake> stakes(100);
  on_a_new_thread([&] {
    for (stake& s : stakes) ASSERT_TRUE(s.attach());
  });
  for (const stake& s : stakes) EXPECT_TRUE(s.retired);
}

TEST(ThreadTable, NeighboursInAThreadsListKnowEachOther) {
  on_a_new_thread([] {
    std::deque<stake> stakes(3);
    for (stake& s : stakes) ASSERT_TRUE(s.attach());
    const std::lock_guard guard(ends_mutex);
    for (stake& s : stakes) EXPECT_TRUE(s.is_linked());
    stakes[1].detach();
    for (stake& s : stakes) EXPECT_TRUE(s.is_linked());
  });
}

}  // namespace
}  // namespace mallard
