// annotations: what mallard/annotate.h finds and calls in a recorded program: events of its regions, and the
// scopes of this thread.
//
// Beginning a scope ends those whose function must have returned, since their frames lie below the new one's,
// and one that was begun at the same place before: its function was left and called again. Ending a scope
// ends those that began inside it. Beginning costs reading the name once and a probe of the name table;
// ending a few instructions.
#pragma once

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// Moves the names of this thread's scopes to another spool, for a child that gets one of its own.
void move_scopes(journal::spool_header* from, journal::spool_header* to) noexcept;

}  // namespace mallard::recorder
