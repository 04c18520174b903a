// reader_lock: tells the recorded programs that the launcher lives, without asking it.
//
// A futex in the root's spool holds the id of the thread that reads. It is a robust one (set_robust_list(2)):
// when that thread ends, however, the kernel sets FUTEX_OWNER_DIED in it. So a program sees the death of its
// reader by one load, whatever it may call or see itself.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace mallard::recorder {

class reader_lock {
 public:
  // Locks for the calling thread, which must outlive the lock. Where the kernel has no robust futexes, `word`
  // stays 0: the programs cannot know. The list replaces the C library's, of mutexes that outlive their
  // threads; the launcher has none.
  explicit reader_lock(std::atomic<std::uint32_t>& word) noexcept
      : held_{&list_.list},
        list_{.list = {&held_},
              .futex_offset = reinterpret_cast<char*>(&word) - reinterpret_cast<char*>(&held_),
              .list_op_pending = nullptr},
        word_(word) {
    if (syscall(SYS_set_robust_list, &list_, sizeof list_) == 0)
      word_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
  }
  ~reader_lock() {
    syscall(SYS_set_robust_list, nullptr, sizeof list_);
    word_ = 0;
  }
  reader_lock(const reader_lock&) = delete;
  reader_lock& operator=(const reader_lock&) = delete;

 private:
  robust_list held_;
  robust_list_head list_;
  std::atomic<std::uint32_t>& word_;
};

}  // namespace mallard::recorder
