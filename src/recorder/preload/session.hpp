// session: what the program's process knows of being recorded.
//
// It begins with the first call of any entry point, or when the library is initialised: the spool is
// mapped, the environment becomes what it would be without the recorder, and the gate opens. The gate
// is a page that the kernel wipes in a forked child, however it was forked, so a child finds it closed
// and runs unrecorded; a vfork'ed child shares its parent's memory, allocations included, until it
// execs, and what it allocates there is its parent's. An exec'ed program finds nothing in its environment.
//
// Invariant: while the gate shows a spool, the spool is mapped; it is never unmapped.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/clock.hpp"

namespace mallard::recorder {

struct alignas(journal::spool_page) session_gate {
  std::atomic<journal::spool_header*> spool;  // null: nothing is recorded
  std::uint64_t start_ticks;
  std::uint64_t clock_cost;  // ticks that reading the clock takes
  journal::stack_mode stacks;
  std::uint32_t depth;  // frames
  bool free_stacks;
};

using namespace journal;

extern session_gate gate;

// The spool to record into, null when nothing is recorded (any more).
[[nodiscard]] MALLARD_INLINE spool_header* recording() noexcept {
  return gate.spool.load(std::memory_order_relaxed);
}

// Ticks since recording began.
[[nodiscard]] MALLARD_INLINE std::uint64_t session_time() noexcept { return ticks() - gate.start_ticks; }

// Begins the session once the environment can be read; later calls do nothing.
void begin_session() noexcept;

// Begins it if this is the first call of any entry point; whether there is something to record.
[[nodiscard]] bool begin_with_first_call() noexcept;

// Ends it for all threads, at the launcher's wish or because the launcher is gone: then with one warning.
void end_session() noexcept;
void give_up_session() noexcept;

}  // namespace mallard::recorder
