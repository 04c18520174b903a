// children: makes children in every way there is. Two of them allocate 500000 blocks of 8888 bytes each; the
// program itself 10 blocks of 7777 bytes before and 10 after.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

static void allocate(long blocks, size_t size) {
  for (long i = 0; i < blocks; ++i) do_free(do_malloc(size));
}

static int ended_well(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void live_as_child(void) {
  allocate(500000, 8888);
  _exit(0);
}

int main(void) {
  static char* const echo[] = {"sh", "-c", "echo \"preload=$LD_PRELOAD spool=$MALLARD_RECORD_SPOOL\"", NULL};
  allocate(10, 7777);

  pid_t child = fork();
  if (child == 0) live_as_child();
  if (!ended_well(child)) return 1;

  child = (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);  // no fork handler runs
  if (child == 0) live_as_child();
  if (!ended_well(child)) return 2;

  child = vfork();
  if (child == 0) {
    execv("/bin/sh", echo);
    _exit(9);
  }
  if (!ended_well(child)) return 3;

  if (posix_spawn(&child, "/bin/sh", NULL, NULL, echo, environ) != 0 || !ended_well(child)) return 4;

  allocate(10, 7777);
  execv("/bin/sh", echo);
  return 5;
}
