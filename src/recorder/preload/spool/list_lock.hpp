// list_lock: the lock of what all threads write into the spool one after the other: modules and names.
//
// Signals wait meanwhile, so that no handler of this thread wants the lock that the thread holds.
#pragma once

#include <signal.h>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

class list_lock {
 public:
  explicit list_lock(journal::spool_header* spool) noexcept;
  ~list_lock() noexcept;
  list_lock(const list_lock&) = delete;
  list_lock& operator=(const list_lock&) = delete;

  // False if the session ended while the thread waited.
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  journal::spool_header* spool_;
  sigset_t signals_before_;
  bool taken_ = true;
};

}  // namespace mallard::recorder
