// snapshot: what the caller of an allocation had in its registers and on its stack, behind the event.
//
//     event        [malloc ...]                              the owner of the block, say the container,
//     snapshot     [rbx rbp r12 r13 r14 r15 | 20 words]      nearly always stands in one of these places
//
// Whole windows of a ring's allocations have one, each window twice as far from the beginning as the one
// before, and at last one in each 2 Mi. Between them lie short ones, 128 Ki from each other:
//
//     0 [## 64 Ki ##]     128 Ki [## 64 Ki ##]     256 Ki [## 64 Ki ##]     384 Ki [4 Ki]     512 Ki ...
//
// Long windows have to show whether blocks that are freed one after the other belong together. So most blocks
// of an owner must be there, not a sample. Short ones show when other owners take over. All contexts are
// treated alike, so that what is found about them can be added up. Short-lived threads that follow each other
// in one ring count as one.
//
// The registers are those at the program's call: the frames of this library in between are unwound by their
// own rules, which are worked out once a frame. So no entry point has to save anything, whatever compiler
// made it, and recording without snapshots costs one load and a branch. A snapshot costs some 50 ns and 224
// bytes of the ring here, and about 400 ns in the launcher. Threads that share a ring have none.
#pragma once

#include "recorder/preload/event/call_site.hpp"

namespace mallard::recorder {

// For the event that this thread has just emitted, from inside the entry point of `site`.
void emit_snapshot(const call_site& site) noexcept;

}  // namespace mallard::recorder
