// signal_relay: the launcher outlives what is meant for the program.
//
// A signal from the terminal (Ctrl-C) reaches both; the launcher ignores it and finishes the journal when the
// program has ended. A signal that a process sent to the launcher is passed on; one that was sent to the
// whole process group reaches the program twice. A file that cannot grow and a pipe that nobody reads make
// the write fail, and do not end the launcher. The end of the program rings the spool's doorbell, which wakes
// the launcher.
#pragma once

#include <sys/types.h>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// Begins to relay to `process`; once per launcher. Signals that are ignored stay ignored.
void relay_signals(pid_t process, journal::spool_header* spool);

// A write that cannot succeed fails and does not end the launcher. What is started afterwards does not
// inherit that.
void survive_failed_writes();

}  // namespace mallard::recorder
