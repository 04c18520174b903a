// light_mutex: a lock of one word that costs about ten instructions.
//
//     free --lock--> taken --unlock--> free           one atomic exchange each, inlined
//             \--> awaited --unlock--> free, and wakes a waiting thread
//
// std::mutex calls into the C library and costs about fifty instructions per lock and unlock. As in the C
// library's own mutexes, nothing is atomic while the process has only one thread, which takes a tenth of the
// time. The word always says whether the lock is taken, so threads may start and end meanwhile.
// A thread that finds it taken yields its processor a few times before it sleeps in the kernel. If it slept
// at once, the owner would have to call into the kernel to wake it, at each turn of a lock that is never free
// for long: four threads at a locked adaptive_pool take 20 to 40 ns of processor time per node (mallard bench
// pools), and took 100 to 190 without yielding. The longest waits are milliseconds, as with std::mutex. The
// second exchange wakes sleepers: unlocking by a plain store would cost half as much, but waiting threads
// would have to poll.
// Initialised at compile time, nothing to destroy, never throws; not recursive, not fair. Works with
// std::lock_guard and std::unique_lock. Precondition, as for the C library's mutexes: threads are created by
// it (pthread_create, std::thread), not by a bare clone().
#pragma once

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define MALLARD_KNOWS_OF_THREADS 1
#else
#define MALLARD_KNOWS_OF_THREADS 0
#endif

#include <atomic>
#include <thread>

#include "mallard/core/attributes.hpp"

namespace mallard {

class light_mutex {
 public:
  constexpr light_mutex() = default;
  light_mutex(const light_mutex&) = delete;
  light_mutex& operator=(const light_mutex&) = delete;

  // While there is one thread, no other can have taken it.
  MALLARD_INLINE void lock() noexcept {
    if (is_alone())
      state_.store(state::taken, std::memory_order_relaxed);
    else if (!taken_of_free()) [[unlikely]]
      wait();
  }

  [[nodiscard]] MALLARD_INLINE bool try_lock() noexcept { return taken_of_free(); }

  // While there is one thread, no other can wait.
  MALLARD_INLINE void unlock() noexcept {
    if (is_alone())
      state_.store(state::free, std::memory_order_relaxed);
    else if (state_.exchange(state::free, std::memory_order_release) == state::awaited) [[unlikely]]
      wake();
  }

  // Whether the process has no other thread; false if unknown.
  [[nodiscard]] MALLARD_INLINE static bool is_alone() noexcept {
#if MALLARD_KNOWS_OF_THREADS
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }

 private:
  enum class state : int { free, taken, awaited };
  static constexpr int yields = 16;  // before sleeping

  [[nodiscard]] MALLARD_INLINE bool taken_of_free() noexcept {
    state expected = state::free;
    return state_.compare_exchange_strong(expected, state::taken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // A thread that has slept marks it as awaited: others may still sleep.
  MALLARD_NOINLINE void wait() noexcept {
    for (int i = 0; i != yields; ++i) {
      std::this_thread::yield();
      if (state_.load(std::memory_order_relaxed) == state::free && taken_of_free()) return;
    }
    while (state_.exchange(state::awaited, std::memory_order_acquire) != state::free)
      state_.wait(state::awaited, std::memory_order_relaxed);
  }

  MALLARD_NOINLINE void wake() noexcept { state_.notify_one(); }

  std::atomic<state> state_ = state::free;
};

// std::lock_guard, always inlined: gcc calls its constructor where a file is large.
template <class Mutex>
class [[nodiscard]] inline_guard {
 public:
  MALLARD_INLINE explicit inline_guard(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
  inline_guard(const inline_guard&) = delete;
  inline_guard& operator=(const inline_guard&) = delete;
  MALLARD_INLINE ~inline_guard() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace mallard
