// call: one entry of the program into the recorder; the calls an allocator makes in turn are not the
// program's.
//
//     program -> malloc (call: recorded) -> real malloc -> ... -> malloc (call: passed through)
//
// The thread marks the stack frame of its outermost call rather than setting a flag. If the program leaves
// the call without returning, the mark stays, and the next call from a frame that cannot be inside the marked
// one replaces it. A longjmp removes the mark itself (jumps.cpp). Two stores and a load in thread-local
// memory.
#pragma once

#include <signal.h>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/thread/thread_state.hpp"

// What an entry point is declared with.
#define MALLARD_INTERPOSED extern "C" [[gnu::visibility("default")]]

namespace mallard::recorder {

class call {
 public:
  MALLARD_INLINE call() noexcept {
    void* frame = __builtin_frame_address(0);
    if (self.outermost_call == nullptr) [[likely]] {
      self.outermost_call = frame;
      outermost_ = true;
    } else if (frame < self.outermost_call) {  // stacks grow downwards
      ++self.nested_calls;
      outermost_ = false;
    } else {
      outermost_ = replaces_dead_call(frame);
    }
  }

  MALLARD_INLINE ~call() noexcept {
    if (outermost_) self.outermost_call = nullptr;
  }

  call(const call&) = delete;
  call& operator=(const call&) = delete;

  [[nodiscard]] MALLARD_INLINE bool is_outermost() const noexcept { return outermost_; }

  // Whether this call is to be recorded.
  [[nodiscard]] MALLARD_INLINE bool recorded() const noexcept { return outermost_ && should_record(); }

 private:
  // What is called from inside the marked frame lies below it, unless a signal handler with a stack of its
  // own interrupted it.
  MALLARD_NOINLINE static bool replaces_dead_call(void* frame) noexcept {
    stack_t signal_stack{};
    const long asked = raw_call(SYS_sigaltstack, nullptr, &signal_stack);
    if (asked == not_permitted || (asked == 0 && (signal_stack.ss_flags & SS_ONSTACK) != 0)) {
      ++self.nested_calls;
      return false;
    }
    self.outermost_call = frame;
    return true;
  }

  bool outermost_;
};

}  // namespace mallard::recorder
