// A long measurement and its user: Ctrl-C as a question, and one line that says what is being done.
//
//     Ctrl-C          interrupted() is true from then on; a second one ends the process at once
//     standard error  [round 3 of 5: jemalloc]      only where it is a terminal
//
// Measurements ask between workers and then end in order, with what they have.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

namespace mallard::harness {

namespace detail {

inline volatile std::sig_atomic_t interrupt_seen = 0;
inline volatile std::sig_atomic_t worker = 0;  // process that an interrupt ends; 0: none

}  // namespace detail

inline void watch_for_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    const int before = errno;
    detail::interrupt_seen = 1;
    if (detail::worker != 0) ::kill(detail::worker, SIGKILL);
    errno = before;
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

[[nodiscard]] inline bool interrupted() noexcept { return detail::interrupt_seen != 0; }

// While it lives, no interrupt comes; then those that came meanwhile do.
class interrupts_held {
 public:
  interrupts_held() {
    sigset_t interrupt;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
  }
  ~interrupts_held() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  interrupts_held(const interrupts_held&) = delete;
  interrupts_held& operator=(const interrupts_held&) = delete;

  // Signals that were blocked before.
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// The line, as long as it lives.
class progress {
 public:
  progress() = default;
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // Replaces the line.
  void show(const std::string& line) {
    if (!on_terminal_) return;
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    shown_ = true;
  }

  // Takes the line away, before something else is printed.
  void clear() {
    if (!shown_) return;
    std::fputs("\r\033[K", stderr);
    shown_ = false;
  }

 private:
  bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

}  // namespace mallard::harness
