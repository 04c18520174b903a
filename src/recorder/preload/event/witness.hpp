// witness: what the caller of an allocation had in its registers and on its stack, behind the event.
//
//     event        [malloc ...]                              the owner of the block, say the container,
//     witness      [rbx rbp r12 r13 r14 r15 | 20 words]      nearly always stands in one of these places
//
// Of each 64 Ki allocations of a thread the first 4096 have one. The registers are those at the program's
// call: the frames of this library in between are undone by their own unwinding rules, so that no entry
// point has to save anything, and recording without witnesses costs one load and a branch. A few
// microseconds each. Threads that share a ring have none.
#pragma once

#include "recorder/preload/event/call_site.hpp"

namespace mallard::recorder {

// For the event that this thread has just put into its ring, from inside the entry point of `site`.
void put_witness(const call_site& site) noexcept;

}  // namespace mallard::recorder
