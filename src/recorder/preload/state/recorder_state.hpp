// recorder_state: whether this process is being recorded, into which spool, and what of it.
//
//     loaded --> undecided --> recording, into `spool`
//                    |             |
//                    +-------------+--> not recording
//
// The spool of the root is the launcher's. Other processes make their own at their first event
// (child_spool.hpp).
//
// The state is a page that the kernel wipes in a forked child, however it was forked. So a child starts
// undecided, and begins a recording of its own when it comes to its first event; what never does leaves
// nothing behind. A vfork'ed child shares its parent's memory, allocations included, until it execs: what it
// allocates there is its parent's.
//
// Invariant: while the state shows a spool, the spool is mapped; in one process it is never unmapped.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/clock.hpp"
#include "recorder/preload/state/timing_cost.hpp"

namespace mallard::recorder {

using namespace journal;

struct alignas(spool_page) recorder_state {
  std::atomic<spool_header*> spool;  // null: nothing is recorded
  std::uint64_t start_ticks;
  timing_cost timing;
  std::atomic<std::uint32_t> module_generation;  // changes when a module goes
  stack_mode stacks;
  std::uint32_t depth;  // frames; 0: all
  bool free_stacks;
  bool snapshots;
  std::atomic<bool> decided;  // whether and where this process records has been decided
  std::atomic<bool> is_being_decided;
};

inline constinit recorder_state state{};

// The spool to record into, null when nothing is recorded (any more): another thread may end the recording at
// any moment.
[[nodiscard]] MALLARD_INLINE spool_header* current_spool() noexcept {
  return state.spool.load(std::memory_order_relaxed);
}

// Ticks since recording began.
[[nodiscard]] MALLARD_INLINE std::uint64_t recording_time() noexcept { return ticks() - state.start_ticks; }

// Decides, at the first call of a process; false if nothing is recorded. Defined in recording/, the upper end
// of the include order, since it needs everything below.
[[nodiscard]] bool begin_with_first_call() noexcept;

// Whether to record, asked with every call that is the program's.
[[nodiscard]] MALLARD_INLINE bool should_record() noexcept {
  if (current_spool() != nullptr) [[likely]]
    return true;
  return !state.decided.load(std::memory_order_acquire) && begin_with_first_call();
}

// Ends the recording of this process, for all its threads.
inline void stop_recording() noexcept { state.spool.store(nullptr, std::memory_order_relaxed); }

}  // namespace mallard::recorder
