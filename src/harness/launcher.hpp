// launch: one worker process from exec on, and what became of it.
//
//     parent --posix_spawn--> worker (fresh image: no heap of the parent's, the malloc it was given)
//
// A worker's environment holds a few harmless variables of ours (PATH, HOME, TMPDIR,
// LD_LIBRARY_PATH, sanitizers' options) and what the launch adds: no LD_PRELOAD and no malloc
// setting of the user's shell leaks into a measurement. Descriptors without FD_CLOEXEC are
// inherited; what the worker prints is kept off the terminal. Cost: fork, exec and dynamic linking, about a
// millisecond.
#pragma once

#include <string>
#include <vector>

namespace mallard::harness {

struct launch_plan {
  std::string program;                   // path
  std::vector<std::string> arguments;    // without the program's own name
  std::vector<std::string> environment;  // "NAME=value", added
  bool small_pages = false;              // whether it gets no huge pages, whatever the system's policy
};

struct outcome {
  int exit_code = 0;  // meaningful when signal is 0
  int signal = 0;     // the one that ended it, or 0
  std::string said;   // the last line it wrote to standard error; empty: none

  [[nodiscard]] bool clean() const noexcept { return exit_code == 0 && signal == 0; }
};

// Runs the worker to its end, which an interrupt (terminal.hpp) brings about at once; throws
// std::system_error when it cannot be started.
[[nodiscard]] outcome launch(const launch_plan& plan);

// "ended by signal 11 (Segmentation fault)", "exited with code 3", and what it said last.
[[nodiscard]] std::string describe(const outcome& end);

}  // namespace mallard::harness
