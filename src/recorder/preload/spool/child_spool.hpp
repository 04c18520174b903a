// child_spool: a spool that a child process makes for itself.
//
//     FILE.d/PID.spool  then  FILE.d/PID.2.spool, PID.3 ...  for what has the same process id later
//
// It is made when the child records its first event, with the size and options of the root's. The launcher
// looks for it when the root's count of announced spools has grown.
#pragma once

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// Makes and maps it, and describes the process in it; null if that fails, which the root's spool then says.
[[nodiscard]] journal::spool_header* make_child_spool() noexcept;

// Tells the launcher that it can be read.
void announce_child_spool() noexcept;

}  // namespace mallard::recorder
