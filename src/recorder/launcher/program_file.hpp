// program_file: the file that the user's command names, and whether the recorder can be loaded into it.
//
// It is examined before anything is started, so that the user of a program out of reach gets a clear line at
// once and not an empty journal in the end.
#pragma once

#include <string>

#include "recorder/program_image.hpp"

namespace mallard::recorder {

struct program_file {
  std::string path;  // what to execute
  reach verdict;
  std::string culprit;  // the file that the verdict is about: the program, or the interpreter of a script
};

// Resolves `name` like a shell: by PATH unless it has a slash.
[[nodiscard]] program_file find_program(const std::string& name);

// The line for the user, and the exit code a shell would give (2 where it knows none).
[[nodiscard]] std::string explain(const program_file& program, const std::string& name);
// A line for the user of a program that has another process do the work, which is no child of it: docker, ssh
// and their like. Empty for other programs.
[[nodiscard]] std::string caution(const program_file& program);

[[nodiscard]] int exit_code_of(reach verdict) noexcept;

}  // namespace mallard::recorder
