// real_process: the functions of libc that this library interposes beside the malloc family. They start
// programs, end the process, load and unload modules. They are looked up when the library is initialised, or
// at a first call before that, since a vfork'ed child could not do it.
#pragma once

#include <spawn.h>
#include <stdio.h>

namespace mallard::recorder {

struct real_process_functions {
  int (*execve)(const char*, char* const*, char* const*) noexcept;
  int (*execvpe)(const char*, char* const*, char* const*) noexcept;
  int (*fexecve)(int, char* const*, char* const*) noexcept;
  int (*execveat)(int, const char*, char* const*, char* const*, int) noexcept;
  int (*posix_spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                     char* const*, char* const*);
  int (*posix_spawnp)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                      char* const*, char* const*);
  FILE* (*popen)(const char*, const char*);
  int (*system)(const char*);
  void (*leave)(int);
  void* (*dlopen)(const char*, int) noexcept;
  int (*dlclose)(void*) noexcept;
};

// All of them, looked up.
[[nodiscard]] const real_process_functions& real_process() noexcept;

}  // namespace mallard::recorder
