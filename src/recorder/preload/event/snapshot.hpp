// snapshot: what the caller of an allocation had in its registers and on its stack, behind the event.
//
//     event        [malloc ...]                              the owner of the block, say the container,
//     snapshot     [rbx rbp r12 r13 r14 r15 | 20 words]      nearly always stands in one of these places
//
// Of each 64 Ki allocations of a thread the first 4096 have one. The registers are those at the program's
// call: the frames of this library in between are unwound by their own rules, so no entry point has to save
// anything, and recording without snapshots costs one load and a branch. A few microseconds each. Threads
// that share a ring have none.
#pragma once

#include "recorder/preload/event/call_site.hpp"

namespace mallard::recorder {

// For the event that this thread has just emitted, from inside the entry point of `site`.
void emit_snapshot(const call_site& site) noexcept;

}  // namespace mallard::recorder
