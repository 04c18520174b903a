// blocked_signals: no signal handler of this thread runs while the object lives.
//
// Where the program has forbidden itself the call, handlers do run. What they allocate on the same stack lies
// inside the interrupted call and is not recorded.
#pragma once

#include <signal.h>

#include <cstdint>

#include "recorder/preload/spool/raw_calls.hpp"

namespace mallard::recorder {

inline constexpr std::size_t kernels_signal_bytes = 8;  // of a set of signals

class blocked_signals {
 public:
  blocked_signals() noexcept {
    sigset_t all;
    sigfillset(&all);  // without those that libc uses itself
    blocked_ = change(&all, &before_);
  }
  ~blocked_signals() noexcept {
    if (blocked_) change(&before_, nullptr);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  static bool change(const sigset_t* to, sigset_t* before) noexcept {
    return raw_call(SYS_rt_sigprocmask, SIG_SETMASK, to, before, kernels_signal_bytes) == 0;
  }

  sigset_t before_;
  bool blocked_;
};

}  // namespace mallard::recorder
