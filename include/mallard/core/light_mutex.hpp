// light_mutex: a lock for a few dozen instructions, in one word.
//
//     free --lock--> taken --unlock--> free           one atomic exchange each, inlined
//             \--> awaited --unlock--> free, and one who waits is woken
//
// Where std::mutex calls into the C library and costs some fifty instructions a turn, this costs ten. As long
// as the C library knows of no second thread none of them is atomic, as in its own mutexes: that is a tenth
// of the time. The word says who has the lock in either case, so threads may begin and end while it is taken.
// Who finds it taken yields its processor a few times and only then sleeps in the kernel: else who has the
// lock must call into the kernel to wake it, at each turn of a lock that is never free for long. Four threads
// at a locked adaptive_pool take 20 to 40 ns of processor time a node (mallard bench pools), where they took
// 100 to 190 when they slept at once. Who waits longest waits milliseconds, as at a std::mutex. Who sleeps is
// woken by the second exchange: a lock that is given up by a plain store costs half as much, but who waits
// must look again and again.
// Initialised at compile time, nothing to destroy, never throws; not recursive, not fair. Works with
// std::lock_guard and std::unique_lock. Precondition, as of the C library's mutexes: threads come from it
// (pthread_create, std::thread), not from a bare clone().
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

  // Nobody else can have it of a thread that is alone.
  MALLARD_INLINE void lock() noexcept {
    if (is_alone())
      state_.store(state::taken, std::memory_order_relaxed);
    else if (!taken_of_free()) [[unlikely]]
      wait();
  }

  [[nodiscard]] MALLARD_INLINE bool try_lock() noexcept { return taken_of_free(); }

  // Nobody waits for a thread that is alone.
  MALLARD_INLINE void unlock() noexcept {
    if (is_alone())
      state_.store(state::free, std::memory_order_relaxed);
    else if (state_.exchange(state::free, std::memory_order_release) == state::awaited) [[unlikely]]
      wake();
  }

 private:
  enum class state : int { free, taken, awaited };
  static constexpr int yields = 16;  // before it sleeps

  // Whether there is no other thread; false where that is not known.
  [[nodiscard]] MALLARD_INLINE static bool is_alone() noexcept {
#if MALLARD_KNOWS_OF_THREADS
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }

  [[nodiscard]] MALLARD_INLINE bool taken_of_free() noexcept {
    state expected = state::free;
    return state_.compare_exchange_strong(expected, state::taken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // Who has slept takes it as awaited: others may sleep still.
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

}  // namespace mallard
