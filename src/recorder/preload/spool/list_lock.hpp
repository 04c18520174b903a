// list_lock: the lock for what all threads write into the same part of the spool, modules and names.
//
// Signals are blocked meanwhile, so that no handler of this thread wants the lock that the thread holds.
#pragma once

#include "journal/spool/spool.hpp"
#include "recorder/preload/spool/blocked_signals.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

class list_lock {
 public:
  explicit list_lock(journal::spool_header* spool) noexcept : spool_(spool) {
    while (taken_ && spool_->list_taken.exchange(1, std::memory_order_acquire) != 0) {
      pause_for_ns(10'000);
      taken_ = current_spool() != nullptr;
    }
  }
  ~list_lock() noexcept {
    if (taken_) spool_->list_taken.store(0, std::memory_order_release);
  }
  list_lock(const list_lock&) = delete;
  list_lock& operator=(const list_lock&) = delete;

  // False if the recording ended while the thread waited.
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  blocked_signals signals_;
  journal::spool_header* spool_;
  bool taken_ = true;
};

}  // namespace mallard::recorder
