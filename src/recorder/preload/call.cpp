#include "recorder/preload/call.hpp"

#include <signal.h>

namespace mallard::recorder {

MALLARD_NOINLINE bool call::replaces_dead_call(void* frame) noexcept {
  // What is called from inside the marked frame lies below it, unless a signal handler with a stack of its
  // own interrupted it.
  stack_t signal_stack{};
  if (sigaltstack(nullptr, &signal_stack) == 0 && (signal_stack.ss_flags & SS_ONSTACK) != 0) {
    ++self.nested_calls;
    return false;
  }
  self.outermost_call = frame;
  return true;
}

}  // namespace mallard::recorder
