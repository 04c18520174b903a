// Whether a recorded process still runs.
#pragma once

#include <cstdint>

namespace mallard::journal {

// Whether the process with this id runs and began before the moment `unix_ns`, so that it is not a later one
// that was given the same id. 0 for a moment that is not known.
[[nodiscard]] bool is_running(std::uint64_t process, std::uint64_t unix_ns);

}  // namespace mallard::journal
