// reader_lock: tells the recorded programs that the launcher lives, without asking it.
//
// A futex in the root's spool holds the id of the thread that reads. It is a robust one (set_robust_list(2)):
// when that thread ends, however, the kernel sets FUTEX_OWNER_DIED in it. So a program sees the death of its
// reader by one load, whatever it may call or see itself.
#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstdint>

namespace mallard::recorder {

class reader_lock {
 public:
  // Locks for the calling thread, which must outlive the lock. Where the kernel has no robust futexes, `word`
  // stays 0: the programs cannot know.
  explicit reader_lock(std::atomic<std::uint32_t>& word) noexcept;
  ~reader_lock();
  reader_lock(const reader_lock&) = delete;
  reader_lock& operator=(const reader_lock&) = delete;

 private:
  robust_list held_;
  robust_list_head list_;
  std::atomic<std::uint32_t>& word_;
};

}  // namespace mallard::recorder
