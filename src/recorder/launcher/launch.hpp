// launch: one program's run under the recorder, from fork to the line that sums it up.
//
//     start:  fork, spool and journal made, exec      loop:  read rings, write, sleep      end:  finish
//
// If the journal cannot be written further (a full disk), the program goes on unrecorded.
#pragma once

#include "recorder/launcher/options.hpp"
#include "recorder/launcher/program_file.hpp"

namespace mallard::recorder {

// Runs `program`; the exit code for the launcher: the program's own, 128 + the signal that ended it, or
// 2 when there is no journal, which has been explained to the user.
[[nodiscard]] int launch(const options& chosen, const program_file& program);

}  // namespace mallard::recorder
