// session: what the program's process knows of being recorded.
//
//     root:        first call, or the library's initialisation --> the launcher's spool
//     its others:  ............................ first event    --> a spool of their own (child_spool.hpp)
//
// When the library is loaded, the environment becomes what it would be without the recorder. The gate is
// a page that the kernel wipes in a forked child, however it was forked, so a child finds it closed and
// unsettled, and opens it with a session of its own when it comes to its first event; what never does leaves
// nothing behind. A vfork'ed child shares its parent's memory, allocations included, until it execs, and
// what it allocates there is its parent's.
//
// Invariant: while the gate shows a spool, the spool is mapped; in one process it is never unmapped.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/clock.hpp"
#include "recorder/preload/timing_cost.hpp"

namespace mallard::recorder {

struct alignas(journal::spool_page) session_gate {
  std::atomic<journal::spool_header*> spool;  // null: nothing is recorded
  std::uint64_t start_ticks;
  timing_cost timing;
  std::atomic<std::uint32_t> module_generation;  // changes when a module goes
  journal::stack_mode stacks;
  std::uint32_t depth;  // frames
  bool free_stacks;
  bool witness;
  std::atomic<bool> settled;  // whether and where this process records has been decided
  std::atomic<bool> is_being_settled;
};

using namespace journal;

extern session_gate gate;

// The spool to record into, null when nothing is recorded (any more).
[[nodiscard]] MALLARD_INLINE spool_header* recording() noexcept {
  return gate.spool.load(std::memory_order_relaxed);
}

// Ticks since recording began.
[[nodiscard]] MALLARD_INLINE std::uint64_t session_time() noexcept { return ticks() - gate.start_ticks; }

// The first call of a process: begins its session if it is to have one; false if nothing is recorded.
[[nodiscard]] bool begin_with_first_call() noexcept;

// Whether to record, to be asked with every call that is the program's.
[[nodiscard]] MALLARD_INLINE bool is_to_be_recorded() noexcept {
  if (recording() != nullptr) [[likely]]
    return true;
  return !gate.settled.load(std::memory_order_acquire) && begin_with_first_call();
}

// Begins the root's session once the environment can be read; later calls do nothing.
void begin_session() noexcept;

// Ends it for all threads, at the launcher's wish or because the launcher is gone: then with one warning.
void end_session() noexcept;
void give_up_session() noexcept;

}  // namespace mallard::recorder
