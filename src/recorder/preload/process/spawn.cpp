// The entry points that start another program: posix_spawn, posix_spawnp and popen, which return at once, and
// system(), since libc's starts the shell with the process's environment and takes no other.
//
//     SIGINT, SIGQUIT ignored, SIGCHLD held --> posix_spawn(sh, passed environment) --> wait --> as before
//
// As POSIX demands of system(), also for several threads at once (the first ignores the signals, the last
// restores them) and for a thread that is cancelled: then the shell is killed and reaped.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/process/passed_environment.hpp"
#include "recorder/preload/process/real_process.hpp"

namespace mallard::recorder {
namespace {

constexpr char shell[] = "/bin/sh";
constexpr int no_shell = 127 << 8;  // the status of a shell that could not be run

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned callers = 0;
struct sigaction interrupt_before;
struct sigaction quit_before;

struct running_shell {
  pid_t process;
  sigset_t signals_before;
};

void begin(running_shell& running) noexcept {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  pthread_mutex_lock(&lock);
  if (callers++ == 0) {
    sigaction(SIGINT, &ignore, &interrupt_before);
    sigaction(SIGQUIT, &ignore, &quit_before);
  }
  pthread_mutex_unlock(&lock);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &child, &running.signals_before);
}

void end(const running_shell& running) noexcept {
  pthread_mutex_lock(&lock);
  if (--callers == 0) {
    sigaction(SIGINT, &interrupt_before, nullptr);
    sigaction(SIGQUIT, &quit_before, nullptr);
  }
  pthread_mutex_unlock(&lock);
  pthread_sigmask(SIG_SETMASK, &running.signals_before, nullptr);
}

int start_shell(running_shell& running, const char* command) noexcept {
  sigset_t restored;
  sigemptyset(&restored);
  if (interrupt_before.sa_handler != SIG_IGN) sigaddset(&restored, SIGINT);
  if (quit_before.sa_handler != SIG_IGN) sigaddset(&restored, SIGQUIT);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &running.signals_before);
  posix_spawnattr_setsigdefault(&attributes, &restored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const char* const words[] = {"sh", "-c", command, nullptr};
  const int error = with_environment_for(shell, environ, [&](char* const* passed) {
    return real_process().posix_spawn(&running.process, shell, nullptr, &attributes,
                                      const_cast<char* const*>(words), passed);
  });
  posix_spawnattr_destroy(&attributes);
  return error;
}

// When the thread is cancelled.
void abandon(void* argument) noexcept {
  const auto* running = static_cast<running_shell*>(argument);
  kill(running->process, SIGKILL);
  while (waitpid(running->process, nullptr, 0) < 0 && errno == EINTR) {
  }
  end(*running);
}

int wait_for(running_shell& running) noexcept {
  int status = -1;
  pid_t ended = -1;
  pthread_cleanup_push(abandon, &running);
  do ended = waitpid(running.process, &status, 0);
  while (ended < 0 && errno == EINTR);
  pthread_cleanup_pop(0);
  return ended == running.process ? status : -1;
}

int run(const char* command) noexcept {
  running_shell running{};
  begin(running);
  const int error = start_shell(running, command);
  const int status = error == 0 ? wait_for(running) : no_shell;
  const int reason = error == 0 ? errno : error;
  end(running);
  errno = reason;
  return status;
}

}  // namespace
}  // namespace mallard::recorder

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

MALLARD_INTERPOSED int system(const char* command) {
  if (!passage(shell, environ).is_open()) return real_process().system(command);
  return command == nullptr ? static_cast<int>(run("exit 0") == 0) : run(command);
}
