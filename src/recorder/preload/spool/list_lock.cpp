#include "recorder/preload/spool/list_lock.hpp"

#include <errno.h>

#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

list_lock::list_lock(spool_header* spool) noexcept : spool_(spool) {
  const int saved_errno = errno;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals_before_);
  while (taken_ && spool_->list_taken.exchange(1, std::memory_order_acquire) != 0) {
    pause_for_ns(10'000);
    taken_ = current_spool() != nullptr;
  }
  errno = saved_errno;
}

list_lock::~list_lock() noexcept {
  if (taken_) spool_->list_taken.store(0, std::memory_order_release);
  pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

}  // namespace mallard::recorder
