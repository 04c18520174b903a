// signal_relay: the launcher outlives what is meant for the program.
//
// A signal from the terminal (Ctrl-C) reaches both; the launcher takes note of nothing and finishes
// the journal when the program has ended. One that a process sent to the launcher is passed on; sent to the
// whole process group, it reaches the program twice.
// A file that cannot grow and a pipe nobody reads are errors of the write, no reason to die. The end of
// the program rings the spool's doorbell, so that nobody sleeps through it.
#pragma once

#include <sys/types.h>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// Begins to relay to `process`; once per launcher. Signals that are ignored stay ignored.
void relay_signals(pid_t process, journal::spool_header* spool);

// Has a write that cannot succeed fail and not end the launcher; what it starts afterwards does not inherit
// that.
void survive_failed_writes();

}  // namespace mallard::recorder
