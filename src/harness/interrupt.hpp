// Ctrl-C as a question: long measurements ask interrupted() between workers and then end in order,
// with what they have. A second Ctrl-C ends the process at once.
#pragma once

#include <csignal>

namespace mallard::harness {

namespace detail {

inline volatile std::sig_atomic_t interrupt_seen = 0;

}  // namespace detail

inline void watch_for_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) { detail::interrupt_seen = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

[[nodiscard]] inline bool interrupted() noexcept { return detail::interrupt_seen != 0; }

}  // namespace mallard::harness
