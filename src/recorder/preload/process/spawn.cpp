// The entry points that start another program and return at once: posix_spawn, posix_spawnp, popen.
#include <spawn.h>
#include <stdio.h>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/process/passed_environment.hpp"
#include "recorder/preload/process/real_process.hpp"

using namespace mallard::recorder;

MALLARD_INTERPOSED int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                                   const posix_spawnattr_t* attributes, char* const* arguments,
                                   char* const* variables) {
  return with_environment_for(path, variables, [=](char* const* passed) {
    return real_process().posix_spawn(child, path, actions, attributes, arguments, passed);
  });
}

MALLARD_INTERPOSED int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                                    const posix_spawnattr_t* attributes, char* const* arguments,
                                    char* const* variables) {
  const searched_file found(file);
  return with_environment_for(found.path(), variables, [=](char* const* passed) {
    return real_process().posix_spawnp(child, file, actions, attributes, arguments, passed);
  });
}

MALLARD_INTERPOSED FILE* popen(const char* command, const char* mode) {
  const lent_environment lend;
  return real_process().popen(command, mode);
}
