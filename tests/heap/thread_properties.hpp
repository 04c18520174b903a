// thread_properties: what heaps with a cache for each thread guarantee beyond the model suite: which
// operations take a lock, what caches keep, and that threads and heaps may end in any order. Each heap
// instantiates it:
//
//     struct pool_kind {
//       using heap = synchronized_pool;                      default-constructible, serves 48 bytes
//       using watched = basic_synchronized_pool<..., counting_mutex>;
//     };
//     INSTANTIATE_TYPED_TEST_SUITE_P(SynchronizedPool, ThreadProperties, pool_kind);
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <latch>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "mallard/core/concepts.hpp"
#include "mallard/thread/thread_caches.hpp"
#include "mallard/thread/thread_table.hpp"
#include "slow_tests.hpp"

namespace mallard {

// Counts how often any is locked by a caller that would wait for it; a caller that would not wait can
// be told that it is taken.
class counting_mutex {
 public:
  static inline std::atomic<std::size_t> locks{0};
  static inline std::atomic<bool> seems_taken{false};

  void lock() {
    ++locks;
    mutex_.lock();
  }
  bool try_lock() { return !seems_taken && mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// ThreadSanitizer lets no child of a process with several threads start one.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool threads_start_after_forks = false;
#elif defined(__has_feature)
inline constexpr bool threads_start_after_forks = !__has_feature(thread_sanitizer);
#else
inline constexpr bool threads_start_after_forks = true;
#endif

template <class Kind>
class ThreadProperties : public testing::Test {
 protected:
  using heap_type = typename Kind::heap;
  using watched_type = typename Kind::watched;

  static constexpr std::size_t size = 48;
  static constexpr std::size_t align = 16;
  static constexpr std::size_t batch_length = batch_blocks(size);
  static constexpr std::size_t most_cached = 2 * batch_length;

  template <class Heap>
  static std::vector<void*> allocate(Heap& from, std::size_t count) {
    std::vector<void*> blocks(count);
    for (void*& p : blocks) {
      p = from.allocate(size, align).data;
      EXPECT_NE(p, nullptr);
    }
    return blocks;
  }

  template <class Heap>
  static void deallocate(Heap& to, const std::vector<void*>& blocks) {
    for (void* const p : blocks) to.deallocate(p, size, align);
  }

  template <class F>
  static void on_another_thread(F f) {
    std::thread(f).join();
  }
};
TYPED_TEST_SUITE_P(ThreadProperties);

// Whether or not somebody else has the lock meanwhile.
TYPED_TEST_P(ThreadProperties, RemoteFreesWaitForNoLock) {
  constexpr std::size_t many = test::slow_tests ? 1'000'000 : 100'000;
  typename TestFixture::watched_type heap;
  for (const bool seems_taken : {false, true}) {
    std::vector<void*> blocks = this->allocate(heap, many + this->most_cached);
    std::size_t locked = 0;
    this->on_another_thread([&] {
      for (std::size_t i = 0; i < this->most_cached; ++i, blocks.pop_back())  // makes the thread's cache
        heap.deallocate(blocks.back(), this->size, this->align);
      const std::size_t before = counting_mutex::locks;
      counting_mutex::seems_taken = seems_taken;
      this->deallocate(heap, blocks);
      counting_mutex::seems_taken = false;
      locked = counting_mutex::locks - before;
    });
    EXPECT_EQ(locked, 0u);
    EXPECT_EQ(heap.usage().granted, 0u);
    EXPECT_FALSE(heap.validate());
    const std::size_t held = heap.usage().held;
    const std::size_t before = counting_mutex::locks;
    blocks = this->allocate(heap, many);
    EXPECT_LE(counting_mutex::locks - before, many / this->batch_length + 2) << "one lock a batch";
    EXPECT_EQ(heap.usage().held, held) << "what the other thread freed is used again";
    this->deallocate(heap, blocks);
  }
}

TYPED_TEST_P(ThreadProperties, PairsOfOneThreadTakeNoLock) {
  typename TestFixture::watched_type heap;
  this->deallocate(heap, this->allocate(heap, 10));
  const std::size_t before = counting_mutex::locks;
  for (int i = 0; i < 100000; ++i) this->deallocate(heap, this->allocate(heap, 10));
  EXPECT_EQ(counting_mutex::locks, before);
}

// One allocates, the other frees: blocks come back in time.
TYPED_TEST_P(ThreadProperties, ProducerAndConsumerHoldABoundedAmount) {
  constexpr std::size_t many = test::slow_tests ? 1'000'000 : 100'000;
  constexpr std::size_t on_the_way = 1024;
  typename TestFixture::heap_type heap;
  std::array<std::atomic<void*>, on_the_way> ring{};
  std::thread consumer([&] {
    for (std::size_t i = 0; i < many; ++i) {
      void* p = nullptr;
      while ((p = ring[i % on_the_way].exchange(nullptr, std::memory_order_acquire)) == nullptr)
        std::this_thread::yield();
      heap.deallocate(p, this->size, this->align);
    }
  });
  for (std::size_t i = 0; i < many; ++i) {
    void* const p = heap.allocate(this->size, this->align).data;
    while (ring[i % on_the_way].load(std::memory_order_relaxed) != nullptr) std::this_thread::yield();
    ring[i % on_the_way].store(p, std::memory_order_release);
  }
  consumer.join();
  const std::size_t blocks = on_the_way + 2 * this->most_cached + 2;
  EXPECT_LE(heap.usage().held, blocks * this->size * 5 / 4 + 32768);
  EXPECT_EQ(heap.usage().granted, 0u);
}

TYPED_TEST_P(ThreadProperties, ThreadsThatComeAndGoNeedNoMoreThanOne) {
  typename TestFixture::heap_type heap;
  std::size_t held = 0;
  for (int i = 0; i < 200; ++i) {
    this->on_another_thread([&] { this->deallocate(heap, this->allocate(heap, 1000)); });
    if (i == 0) held = heap.usage().held;
    ASSERT_EQ(heap.usage().held, held) << "after thread " << i;
    ASSERT_EQ(heap.usage().granted, 0u);
  }
  EXPECT_FALSE(heap.validate());
}

TYPED_TEST_P(ThreadProperties, ManyThreadsAtATimeLeaveAllToTheNext) {
  typename TestFixture::heap_type heap;
  std::vector<std::vector<void*>> left(200);
  const auto one_generation = [&] {
    std::latch all_are_there(static_cast<std::ptrdiff_t>(left.size()));
    std::vector<std::thread> threads;
    threads.reserve(left.size());
    for (std::vector<void*>& mine : left)
      threads.emplace_back([&] {
        this->deallocate(heap, mine);
        mine = this->allocate(heap, 100);
        all_are_there.arrive_and_wait();  // how many use the heap at once is not the scheduler's to say
        this->deallocate(heap, this->allocate(heap, 100));
      });
    for (std::thread& t : threads) t.join();
    EXPECT_FALSE(heap.validate());
    EXPECT_EQ(heap.usage().granted, left.size() * 100 * this->size);
  };
  one_generation();
  const std::size_t held = heap.usage().held;
  for (int i = 0; i < 3; ++i) one_generation();
  EXPECT_LE(heap.usage().held, 2 * held + (std::size_t{1} << 20));
  for (const std::vector<void*>& blocks : left) this->deallocate(heap, blocks);
}

TYPED_TEST_P(ThreadProperties, TheEndOfAThreadGivesItsBlocksToOthers) {
  typename TestFixture::heap_type heap;
  std::vector<void*> first = this->allocate(heap, 1);  // so that this thread has a cache of its own
  this->on_another_thread([&] { this->deallocate(heap, this->allocate(heap, this->batch_length)); });
  const std::size_t held = heap.usage().held;
  std::vector<void*> blocks = this->allocate(heap, this->batch_length);
  EXPECT_EQ(heap.usage().granted, (this->batch_length + 1) * this->size);
  EXPECT_EQ(heap.usage().held, held);
  this->deallocate(heap, blocks);
  this->deallocate(heap, first);
}

TYPED_TEST_P(ThreadProperties, FlushGivesAThreadsBlocksToOthers) {
  typename TestFixture::heap_type heap;
  heap.flush();  // of a thread that has nothing
  std::vector<void*> mine = this->allocate(heap, this->batch_length / 2);
  const void* const one = mine[0];
  this->deallocate(heap, mine);
  const auto taken_elsewhere = [&] {
    bool found = false;
    this->on_another_thread([&] {
      const std::vector<void*> theirs = this->allocate(heap, 2 * this->most_cached);
      found = std::ranges::find(theirs, one) != theirs.end();
      this->deallocate(heap, theirs);
    });
    return found;
  };
  EXPECT_FALSE(taken_elsewhere());
  heap.flush();
  EXPECT_TRUE(taken_elsewhere());
  EXPECT_FALSE(heap.validate());
}

TYPED_TEST_P(ThreadProperties, AThreadMayOutliveTheHeapsItUsed) {
  std::latch used{1};
  std::latch gone{1};
  typename TestFixture::heap_type lasting;
  std::thread user;
  {
    typename TestFixture::heap_type ending;
    user = std::thread([&] {
      this->deallocate(ending, this->allocate(ending, 100));
      this->deallocate(lasting, this->allocate(lasting, 100));
      used.count_down();
      gone.wait();
      this->deallocate(lasting, this->allocate(lasting, 100));
      for (int i = 0; i < 100; ++i) {
        typename TestFixture::heap_type own;
        this->deallocate(own, this->allocate(own, 10));
      }
    });
    used.wait();
  }
  gone.count_down();
  user.join();
  EXPECT_FALSE(lasting.validate());
  EXPECT_EQ(lasting.usage().granted, 0u);
}

// The heap ends while threads that have used it are on their way out.
TYPED_TEST_P(ThreadProperties, ThreadsAndHeapsMayEndAtTheSameTime) {
  for (int round = 0; round < (test::slow_tests ? 300 : 60); ++round) {
    std::array<std::thread, 4> threads;
    {
      std::latch used{threads.size()};
      typename TestFixture::heap_type a;
      typename TestFixture::heap_type b;
      for (std::thread& t : threads)
        t = std::thread([&] {
          this->deallocate(a, this->allocate(a, 40));
          this->deallocate(b, this->allocate(b, 40));
          used.count_down();
        });
      used.wait();
      if (round % 3 == 0) a.release();
      if (round % 3 == 1) a.clear();
    }
    for (std::thread& t : threads) t.join();
  }
}

TYPED_TEST_P(ThreadProperties, ThousandsOfHeapsLiveAtATime) {
  this->on_another_thread([&] {
    std::deque<typename TestFixture::heap_type> heaps(5000);
    std::vector<void*> blocks;
    blocks.reserve(heaps.size());
    for (auto& h : heaps) {
      blocks.push_back(h.allocate(this->size, this->align).data);
      ASSERT_NE(blocks.back(), nullptr);
    }
    this->on_another_thread([&] {
      for (std::size_t i = 0; i < heaps.size(); ++i) heaps[i].deallocate(blocks[i], this->size, this->align);
      EXPECT_LE(this_threads_table.capacity(), 8 * heaps.size());
    });
    for (std::size_t i = 0; i < heaps.size(); ++i)
      ASSERT_EQ(heaps[i].allocate(this->size, this->align).data, blocks[i]) << "what the other thread left";
    EXPECT_LE(this_threads_table.capacity(), 8 * heaps.size());
  });
}

TYPED_TEST_P(ThreadProperties, HeapsMadeAndEndedInALoopLeaveNothingWithTheThread) {
  this->on_another_thread([&] {
    for (int i = 0; i < 5000; ++i) {
      typename TestFixture::heap_type heap;
      this->deallocate(heap, this->allocate(heap, 2));
    }
    EXPECT_EQ(this_threads_table.capacity(), 8u);
  });
}

// A variable of a thread that frees and allocates after the thread has given up its caches.
template <class Heap>
class last_user {
 public:
  explicit last_user(Heap& heap, std::size_t& held) : heap_(heap), held_(held) {}
  last_user(const last_user&) = delete;
  last_user& operator=(const last_user&) = delete;
  ~last_user() {
    void* kept = heap_.allocate(48, 16).data;
    for (int i = 0; i < 10000; ++i)
      heap_.deallocate(std::exchange(kept, heap_.allocate(48, 16).data), 48, 16);
    heap_.deallocate(kept, 48, 16);
    held_ = heap_.usage().held;
  }

 private:
  Heap& heap_;
  std::size_t& held_;
};

TYPED_TEST_P(ThreadProperties, AThreadsLastDestructorsMayUseHeaps) {
  typename TestFixture::heap_type heap;
  std::size_t before = 0;
  std::size_t after = 0;
  this->on_another_thread([&] {
    thread_local const last_user<typename TestFixture::heap_type> last(heap, after);
    this->deallocate(heap, this->allocate(heap, 100));
    before = heap.usage().held;
  });
  EXPECT_EQ(after, before) << "what is freed then is used again";
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_FALSE(heap.validate());
}

TYPED_TEST_P(ThreadProperties, ClearEndsWhatCachesHave) {
  typename TestFixture::heap_type heap;
  this->deallocate(heap, this->allocate(heap, 1000));
  const std::size_t held = heap.usage().held;
  std::latch freed{1};
  std::latch cleared{1};
  std::thread other([&] {
    this->deallocate(heap, this->allocate(heap, 100));
    freed.count_down();
    cleared.wait();
    std::vector<void*> blocks = this->allocate(heap, 100);
    std::ranges::sort(blocks);
    EXPECT_EQ(std::ranges::adjacent_find(blocks), blocks.end());
    this->deallocate(heap, blocks);
  });
  freed.wait();
  heap.clear();
  EXPECT_EQ(heap.usage().granted, 0u);
  EXPECT_FALSE(heap.validate());
  std::vector<void*> mine = this->allocate(heap, 500);
  cleared.count_down();
  other.join();
  EXPECT_FALSE(heap.validate());
  EXPECT_EQ(heap.usage().granted, 500 * this->size);
  EXPECT_LE(heap.usage().held, held + 24576);
}

// Eight threads replace each other's blocks, and find in them what was written.
TYPED_TEST_P(ThreadProperties, BlocksThatPassBetweenThreadsKeepTheirContents) {
  typename TestFixture::heap_type heap;
  std::array<std::atomic<unsigned char*>, 256> shared{};
  std::atomic<std::size_t> damaged{0};
  const auto replace = [&](std::atomic<unsigned char*>& place, unsigned char* with) {
    unsigned char* const old = place.exchange(with, std::memory_order_acq_rel);
    if (old == nullptr) return;
    if (std::count(old, old + this->size, old[0]) != static_cast<std::ptrdiff_t>(this->size)) ++damaged;
    heap.deallocate(old, this->size, this->align);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 30000; ++i) {
        auto* const p = static_cast<unsigned char*>(heap.allocate(this->size, this->align).data);
        if (p == nullptr) continue;
        std::memset(p, static_cast<int>(random() % 256), this->size);
        replace(shared[random() % shared.size()], p);
        if (i % 5000 == 0) heap.flush();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(heap.validate());
  for (std::atomic<unsigned char*>& place : shared) replace(place, nullptr);
  EXPECT_EQ(damaged.load(), 0u);
  EXPECT_EQ(heap.usage().granted, 0u);
}

// A child process has the thread that forked, and what it has in the heap.
TYPED_TEST_P(ThreadProperties, AForkedThreadGoesOnInTheChild) {
  typename TestFixture::heap_type heap;
  const std::vector<void*> blocks = this->allocate(heap, 100);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    this->deallocate(heap, blocks);
    this->deallocate(heap, this->allocate(heap, 200));
    ::_exit(heap.usage().granted == 0 && !heap.validate() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(heap.usage().granted, blocks.size() * this->size);
  this->deallocate(heap, blocks);
}

// Threads that have used the heap and are quiet when another forks are not in the child, and their stacks
// may go to new threads there or back to the system: what they had cached is the heap's.
TYPED_TEST_P(ThreadProperties, AChildIsWithoutTheThreadsThatDidNotFork) {
  constexpr int many = 40;
  typename TestFixture::heap_type heap;
  std::latch used{many};
  std::latch forked{1};
  std::vector<std::thread> threads;
  for (int i = 0; i < many; ++i)
    threads.emplace_back([&] {
      this->deallocate(heap, this->allocate(heap, 100));
      used.count_down();
      forked.wait();
    });
  used.wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    const heap_usage left = heap.usage();
    EXPECT_FALSE(heap.validate());
    EXPECT_EQ(left.granted, 0u);
    if constexpr (threads_start_after_forks) {
      // As many as before, at a time, and each has its block before the next begins: how many blocks no
      // cache has left is the scheduler's to say, but the first finds one, and brings a cache back for it.
      std::vector<std::thread> others;
      std::latch all{1};
      for (int i = 0; i < many; ++i) {
        std::latch has{1};
        others.emplace_back([&] {
          const std::vector<void*> mine = this->allocate(heap, 1);
          has.count_down();
          all.wait();
          this->deallocate(heap, mine);
        });
        has.wait();
      }
      EXPECT_EQ(heap.usage().held, left.held);
      all.count_down();
      for (std::thread& t : others) t.join();
      EXPECT_EQ(heap.usage().granted, 0u);
    }
    heap.release();
    this->deallocate(heap, this->allocate(heap, 100));
    EXPECT_FALSE(heap.validate());
    std::fflush(stdout);
    ::_exit(this->HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  forked.count_down();
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(heap.validate());
}

REGISTER_TYPED_TEST_SUITE_P(ThreadProperties, RemoteFreesWaitForNoLock, PairsOfOneThreadTakeNoLock,
                            ProducerAndConsumerHoldABoundedAmount, ThreadsThatComeAndGoNeedNoMoreThanOne,
                            ManyThreadsAtATimeLeaveAllToTheNext, TheEndOfAThreadGivesItsBlocksToOthers,
                            FlushGivesAThreadsBlocksToOthers, AThreadMayOutliveTheHeapsItUsed,
                            ThreadsAndHeapsMayEndAtTheSameTime, ThousandsOfHeapsLiveAtATime,
                            HeapsMadeAndEndedInALoopLeaveNothingWithTheThread,
                            AThreadsLastDestructorsMayUseHeaps, ClearEndsWhatCachesHave,
                            BlocksThatPassBetweenThreadsKeepTheirContents, AForkedThreadGoesOnInTheChild,
                            AChildIsWithoutTheThreadsThatDidNotFork);

}  // namespace mallard
