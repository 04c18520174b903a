// How a thread gets room in its ring: by looking how far the launcher has read, and by waiting.
//
// Nothing is dropped: a full ring waits as long as the launcher makes progress anywhere. One second
// without any ends the session. The launcher sleeps when there is little to read; a ring that is a
// quarter full wakes it, once per quarter.
#pragma once

#include "recorder/preload/thread_state.hpp"

namespace mallard::recorder {

// Sets the writer's limit so that a record of the longest kind fits; false if the session has ended.
[[nodiscard]] bool make_room(spool_header* spool, ring_writer& ring) noexcept;

// Waits a moment, without being a cancellation point; false if a signal cut it short.
bool pause_for_ns(long ns) noexcept;

// Wakes the launcher if it sleeps.
void wake_reader(spool_header* spool) noexcept;

}  // namespace mallard::recorder
