// recording_files: the files of one run by their names, and room for them where an earlier run has left its
// own.
//
//     FILE  FILE.spool  FILE.d/PID  FILE.d/PID.spool       this run
//     FILE.old  FILE.old.spool  FILE.old.d/PID ...         the one before it; what was there before is
//     removed
//
// What no recording made is never moved, removed or written over.
#pragma once

#include <sys/types.h>

#include <string>
#include <system_error>
#include <vector>

#include "recorder/launcher/record_options.hpp"

namespace mallard::recorder {

// Where the journal of `process` goes, and its spool.
[[nodiscard]] std::string journal_path(const record_options& chosen, pid_t process);
[[nodiscard]] std::string spool_path(const record_options& chosen, pid_t process);

// The names of the journals and spools of children in `folder`, by their form: the user may have files of
// such names. Also empty if the folder cannot be read; `problem` says why.
[[nodiscard]] std::vector<std::string> names_of_children(const std::string& folder, std::error_code& problem);

// Throws std::runtime_error, with one line, if a file at `journal` may not be replaced, as it is not from a
// recording. An empty one may be.
void require_replaceable(const std::string& journal);

// Renames what an earlier run has left at `journal`, but for a spool. Precondition: this process has the lock
// of the spool that belongs there. Throws std::runtime_error.
void put_aside(const std::string& journal);

// The same with the spool of a run that was cut off. Throws std::runtime_error if that run still goes on.
void put_aside_with_spool(const std::string& journal, const std::string& spool);

}  // namespace mallard::recorder
