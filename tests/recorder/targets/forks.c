// forks every_way: makes children in every way there is. Two of them allocate 20000 blocks of 8888 bytes
// each; the
//     program itself 10 blocks of 7777 bytes before and 10 after.
// forks many CHILDREN BLOCKS: makes CHILDREN children, ten at a time, each of which allocates BLOCKS blocks
// of 4444
//     bytes and ends.
// forks among_threads FORKS: forks while three threads allocate without a pause. Each child allocates 200
// blocks of
//     7000 bytes, every third of them in a thread of its own as well, and ends; an alarm ends a process that
//     hangs.
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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

static void live_as_large_child(void) {
  allocate(20000, 8888);
  _exit(0);
}

static int every_way(void) {
  static char* const echo[] = {"sh", "-c", "echo \"preload=$LD_PRELOAD spool=$MALLARD_RECORD_SPOOL\"", NULL};
  allocate(10, 7777);

  pid_t child = fork();
  if (child == 0) live_as_large_child();
  if (!ended_well(child)) return 1;

  child = (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);  // no fork handler runs
  if (child == 0) live_as_large_child();
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

static int many(long children, long blocks) {
  int running = 0;
  for (; children > 0 || running > 0; --children) {
    int status = -1;
    if (children > 0 && fork() == 0) {
      allocate(blocks, 4444);
      _exit(0);
    }
    if (children > 0) ++running;
    if (running < 10 && children > 1) continue;
    if (wait(&status) < 0 || status != 0) return 1;
    --running;
  }
  return 0;
}

static atomic_int stop;

static void* churn(void* unused) {
  void* kept[64] = {NULL};
  for (unsigned i = 0; !stop; ++i) {
    do_free(kept[i % 64]);
    kept[i % 64] = do_malloc(16 + i % 2000);
  }
  for (unsigned i = 0; i < 64; ++i) do_free(kept[i]);
  return unused;
}

static void* allocate_as_child(void* unused) {
  allocate(200, 7000);
  return unused;
}

static void live_among_threads(long number) {
  alarm(300);
  allocate_as_child(NULL);
  pthread_t thread;
  if (number % 3 == 0 &&
      (pthread_create(&thread, NULL, allocate_as_child, NULL) != 0 || pthread_join(thread, NULL) != 0))
    _exit(2);
  if (number % 2 == 0) exit(0);
  _exit(0);
}

static int among_threads(long forks) {
  alarm(300);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    if (pthread_create(&threads[i], NULL, churn, NULL) != 0) return 98;
  for (; forks > 0; --forks) {
    const pid_t child = fork();
    if (child == 0) live_among_threads(forks);
    if (!ended_well(child)) return 1;
    allocate(200, 7000);
  }
  stop = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  return 0;
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "every_way") == 0) return every_way();
  if (strcmp(what, "many") == 0 && count == 4) return many(atol(arguments[2]), atol(arguments[3]));
  if (strcmp(what, "among_threads") == 0 && count == 3) return among_threads(atol(arguments[2]));
  return 99;
}
