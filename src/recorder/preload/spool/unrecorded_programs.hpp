// unrecorded_programs: the list, in the root's spool, of what runs without being recorded.
//
// All processes of a recording share it, so that the launcher can tell its user. An entry is for a program
// and a reason; once the list is full, the last entry is for all others. Allocates nothing and takes no
// lock: a vfork'ed child writes here just before it executes the program.
#pragma once

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// Counts one process that runs `program`, a script perhaps, `by_way_of` an interpreter or itself. Null if
// this process belongs to no recording.
journal::unrecorded_entry* count_unrecorded(const char* program, const char* by_way_of,
                                            const char* reason) noexcept;

// The same for this process's own program.
void count_unrecorded(const char* reason) noexcept;

// Takes a process back, since the program could not be executed.
void discount(journal::unrecorded_entry* entry) noexcept;

// Why the recording's files cannot be used, by the error of the attempt.
[[nodiscard]] const char* reason_of_error(int error) noexcept;

}  // namespace mallard::recorder
