// recorder_state: whether this process is being recorded, into which spool, and how much of it.
//
//     loaded --> undecided --> recording, into `spool`
//                    |             |
//                    +-------------+--> not recording
//
// The spool of the root is the launcher's. Other processes make their own at their first event
// (lineage.hpp).
//
// The state is a page that the kernel wipes in a forked child, however it was forked. So a child starts
// undecided, and begins a recording of its own at its first event; a child without one leaves nothing
// behind. A vfork'ed child shares its parent's memory, allocations included, until it execs: what it
// allocates there is its parent's.
//
// Invariant: while the state shows a spool, the spool is mapped; in one process it is never unmapped.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/clock.hpp"

namespace mallard::recorder {

using namespace journal;

// timing_cost: what timing adds to the timed call.
//
//     63 calls not timed, 1 timed, 63 not timed ...      as stopwatch does it, around nothing
//
// Reading the clock takes time, and so does a branch that is mispredicted once in 64: together as much as a
// fast malloc. It is subtracted, so that neither allocation nor recording seems more expensive than it is.
struct timing_cost {
  std::uint64_t call = 0;   // clock steps between the readings around the real call
  std::uint64_t whole = 0;  // from the first reading to the last, those around the real call included
};

// The median of a few; some 3 us.
[[nodiscard]] timing_cost find_timing_cost() noexcept;

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
