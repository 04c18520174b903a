// thread_step: one thing that a replayed thread does, and what it waits for, 32 bytes; thread_part: a thread.
//
//     thread 0   [ step step step step | end ]     order   its place in the journal's order
//     thread 1   [ step step | end ]               after   the step of another lane that must be done
//          ...                                     all_before all before this order must be done
//
// A lane is a place for one thread after another: there are as many as threads are alive at once. Slots are
// never shared: a reallocation moves its block into another slot, so that a slot is written by one step and
// read by one. The step behind a thread's last says when its lane goes on.
#pragma once

#include <cstdint>

#include "replay/trace/op.hpp"

namespace mallard::replay {

// In place of an order: it waits for no other step.
inline constexpr std::uint32_t no_step = UINT32_MAX;

struct thread_step {
  op what;
  std::uint32_t order;       // index of the op in the trace of blocks
  std::uint32_t all_before;  // waits until every step of a lower order is done
  std::uint32_t after;       // waits until this one is done, by its order; or no_step
  std::uint16_t after_lane;  // which lane does it
  bool crosses = false;      // where several copies run at once: the block is that of the next copy
  std::uint8_t unused = 0;
};
static_assert(sizeof(thread_step) == 32);

struct thread_part {
  std::uint64_t first_step;
  std::uint64_t steps;             // without the one behind the last
  std::uint64_t first_place;       // of its allocations, in their order
  std::uint32_t begin;             // it begins when what is before this order has ended
  std::uint32_t end;               // it has ended before what begins at this order
  std::uint32_t begin_all_before;  // it begins when every step of a lower order is done
  std::uint32_t end_all_before;    // so it ends
  std::uint32_t lane;
  std::uint32_t unused = 0;
};

}  // namespace mallard::replay
