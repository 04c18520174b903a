// process_metadata: what is known of a process when its recording begins.
#pragma once

#include <sys/types.h>

#include "journal/events/metadata.hpp"
#include "journal/spool/spool.hpp"
#include "recorder/launcher/program_file.hpp"
#include "recorder/launcher/record_options.hpp"

namespace mallard::recorder {

// Of the program that mallard-record starts.
[[nodiscard]] journal::metadata describe_root(const record_options& chosen, const program_file& program,
                                              pid_t process);

// Of a child, as it says itself in its spool.
[[nodiscard]] journal::metadata describe_child(journal::spool_header* spool);

}  // namespace mallard::recorder
