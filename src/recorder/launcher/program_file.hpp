// program_file: what the user's command names, and whether the recorder can be loaded into it.
//
// Looked at before anything is started, so that a program out of reach gets a clear line at once
// instead of an empty journal at its end.
#pragma once

#include <string>

#include "recorder/program_image.hpp"

namespace mallard::recorder {

struct program_file {
  std::string path;  // what to execute
  reach verdict;
  std::string culprit;  // the file that decided: the program, or the interpreter of a script
};

// Resolves `name` like a shell: by PATH unless it has a slash.
[[nodiscard]] program_file find_program(const std::string& name);

// The line for the user, and the exit code a shell would give (2 where it knows none).
[[nodiscard]] std::string explain(const program_file& program, const std::string& name);
[[nodiscard]] int exit_code_of(reach verdict) noexcept;

}  // namespace mallard::recorder
