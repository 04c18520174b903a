// counting_mutex<Mutex>: a lock that knows how often it was found taken.
//
//     lock --try_lock--> taken at once: attempts + 1
//          \--lock-----> waited for:    attempts + 1, failures + 1
//     try_lock ---------> taken at once: attempts + 1; otherwise nothing: nobody waits
//
// It counts while it is held, so that counting takes no synchronisation: two additions to the line that the
// lock is in. When it ends it adds to lock_counts_of_process(), where a heap keeps its lock to itself.
#pragma once

#include <atomic>
#include <cstdint>

namespace mallard::bench {

struct lock_counts {
  std::uint64_t attempts = 0;
  std::uint64_t failures = 0;

  friend lock_counts operator-(const lock_counts& a, const lock_counts& b) {
    return {a.attempts - b.attempts, a.failures - b.failures};
  }
};

namespace detail {

inline std::atomic<std::uint64_t> lock_attempts = 0;
inline std::atomic<std::uint64_t> lock_failures = 0;

}  // namespace detail

// Of all counting mutexes that have ended so far.
[[nodiscard]] inline lock_counts lock_counts_of_process() noexcept {
  return {detail::lock_attempts, detail::lock_failures};
}

template <class Mutex>
class counting_mutex {
 public:
  counting_mutex() = default;
  counting_mutex(const counting_mutex&) = delete;
  counting_mutex& operator=(const counting_mutex&) = delete;
  ~counting_mutex() {
    detail::lock_attempts += counts_.attempts;
    detail::lock_failures += counts_.failures;
  }

  void lock() {
    const bool at_once = inner_.try_lock();
    if (!at_once) inner_.lock();
    ++counts_.attempts;
    counts_.failures += static_cast<std::uint64_t>(!at_once);
  }
  [[nodiscard]] bool try_lock() {
    if (!inner_.try_lock()) return false;
    ++counts_.attempts;
    return true;
  }
  void unlock() { inner_.unlock(); }

 private:
  Mutex inner_;
  lock_counts counts_;  // written under the lock
};

}  // namespace mallard::bench
