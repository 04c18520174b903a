// preload_environment: where libmallard-record.so is, and the environment by which the dynamic linker loads
// it into the program.
#pragma once

#include <string>
#include <vector>

namespace mallard::recorder {

// Its path: what MALLARD_RECORD_LIBRARY says, beside the launcher, or where it is installed. Throws
// std::runtime_error with one line if there is none, or if the dynamic linker could not take its path.
[[nodiscard]] std::string find_library();

// This process's environment, with the library before what is preloaded already, and the spool's path.
[[nodiscard]] std::vector<std::string> recording_environment(const std::string& library,
                                                             const std::string& spool);

}  // namespace mallard::recorder
