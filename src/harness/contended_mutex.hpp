// contended_mutex: a lock that counts how often it was taken, and how often another thread had it by then.
//
//     lock:  try_lock --taken by another--> wait        failures / attempts = contention
//
// Counts are a thread's own until it ends, so that counting adds no contention; the thread that asks counts
// its own first. For passes of their own: the count costs a few ns.
#pragma once

#include <atomic>
#include <cstdint>

#include "mallard/core/light_mutex.hpp"

namespace mallard::harness {

class contended_mutex {
 public:
  void lock() noexcept {
    ++here().attempts;
    if (mutex_.try_lock()) return;
    ++here().failures;
    mutex_.lock();
  }
  [[nodiscard]] bool try_lock() noexcept {
    ++here().attempts;
    if (mutex_.try_lock()) return true;
    ++here().failures;
    return false;
  }
  void unlock() noexcept { mutex_.unlock(); }

  // Of the threads that have ended, and of the calling one.
  [[nodiscard]] static std::uint64_t attempts() noexcept { return all_attempts.load() + here().attempts; }
  [[nodiscard]] static std::uint64_t failures() noexcept { return all_failures.load() + here().failures; }

 private:
  struct counts {
    std::uint64_t attempts = 0;
    std::uint64_t failures = 0;

    ~counts() {
      all_attempts.fetch_add(attempts);
      all_failures.fetch_add(failures);
    }
  };

  static counts& here() noexcept {
    static thread_local counts own;
    return own;
  }

  static inline std::atomic<std::uint64_t> all_attempts = 0;
  static inline std::atomic<std::uint64_t> all_failures = 0;

  light_mutex mutex_;
};

}  // namespace mallard::harness
