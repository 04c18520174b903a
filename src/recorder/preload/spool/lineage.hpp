// lineage: what a process knows of the recording that it belongs to, whether it records or not.
//
//     mallard-record --> root --fork--> child --exec--> child ...
//                         ^               |               |
//                         +--- the first page of the root's spool: options, doorbell, heartbeat
//
// A forked child inherits it with its memory, an exec'ed program with its environment: there the spool's
// variable says "NUMBER:PROCESS:PATH", the recording and the process that recorded last, or 0 and 0, and the
// path of the root's spool.
// It is written before the session begins, and afterwards only by a child that has a single thread.
#pragma once

#include <limits.h>

#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

struct lineage_record {
  journal::spool_header* root;  // its first page alone may be touched; null: nothing is recorded at all
  std::uint32_t number;         // of the recording that was begun last, here or before here; 0: the root's
  std::uint32_t process;        // its process; 0: none has recorded
  char spool[PATH_MAX];         // path of the root's
  char library[PATH_MAX];       // path of this library, as it was preloaded
};

extern lineage_record lineage;

// Reads what the variable says, and maps the root's page; false if there is no such spool.
[[nodiscard]] bool join_lineage(const char* variable) noexcept;

// Whether what this process forks and executes is recorded as well, and the launcher still reads.
[[nodiscard]] bool children_are_recorded() noexcept;

// child_spool: a spool that a child process makes for itself.
//
//     FILE.d/PID.spool  then  FILE.d/PID.2.spool, PID.3 ...  for what has the same process id later
//
// It is made when the child records its first event, with the size and options of the root's. The launcher
// looks for it when the root's count of announced spools has grown.

// Makes and maps it, and describes the process in it; null if that fails, which the root's spool then says.
[[nodiscard]] journal::spool_header* make_child_spool() noexcept;

// Tells the launcher that it can be read.
void announce_child_spool() noexcept;

}  // namespace mallard::recorder
