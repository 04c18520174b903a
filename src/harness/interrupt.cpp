#include "harness/interrupt.hpp"

#include <csignal>

namespace mallard::harness {
namespace {

volatile std::sig_atomic_t seen = 0;

void note(int) { seen = 1; }

}  // namespace

void watch_for_interrupt() {
  struct sigaction action{};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

bool interrupted() noexcept { return seen != 0; }

}  // namespace mallard::harness
