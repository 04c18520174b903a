// mallard-launch: runs one program and says what it took. `mallard compare` has one for each run.
//
//     mallard --spawn--> mallard-launch --vfork, exec--> PROGRAM
//        ^                     |                            |
//        +---- one line -------+<------- wait4 -------------+
//
// It stands in between because of max RSS: the kernel starts a program's at that of the process that executes
// it, which for Python is tens of MiB. This process is static and allocates nothing, so that its own share,
// some hundred KiB, is below that of any dynamically linked program. For the same reason no LD_PRELOAD in its
// environment touches it.
//
//     mallard-launch DESCRIPTOR FILE NAME ARGUMENT...
//
// executes FILE with the arguments NAME ARGUMENT..., in this process's environment, and writes one line to
// DESCRIPTOR, which the program does not inherit:
//
//     ELAPSED_NS USER_US SYSTEM_US MAX_RSS_KIB MINOR_FAULTS MAJOR_FAULTS VOLUNTARY INVOLUNTARY STATUS
//     error NUMBER
//
// of the program and of those of its descendants that were waited for: switches behind the faults, and the
// status as wait has it; or why FILE cannot be executed.
//
// The clock runs from before vfork until the program has ended, so that it includes the work of the dynamic
// linker. The program dies with this process, and this one with the process that started it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: mallard-launch DESCRIPTOR FILE NAME ARGUMENT...\n"
    "Runs a program for mallard compare and writes what it took to a descriptor.\n";

static long long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static long long microseconds(struct timeval t) { return (long long)t.tv_sec * 1000000 + t.tv_usec; }

// Writes the line; the exit code.
static int report(int descriptor, const char* line, int length) {
  return write(descriptor, line, (size_t)length) == length ? 0 : 2;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    const int to = argc == 2 && strcmp(argv[1], "--help") == 0 ? STDOUT_FILENO : STDERR_FILENO;
    return report(to, usage, sizeof usage - 1) == 0 && to == STDOUT_FILENO ? 0 : 2;
  }
  const int descriptor = atoi(argv[1]);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, SIGKILL);

  volatile int failed = 0;  // written by the child, which shares this memory until it executes the program
  const long long begin = nanoseconds();
  const pid_t child = vfork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execve(argv[2], argv + 3, environ);
    failed = errno;
    _exit(127);
  }
  int status = 0;
  struct rusage took;
  if (child < 0) failed = errno;
  while (child > 0 && wait4(child, &status, 0, &took) < 0 && errno == EINTR) {
  }
  const long long elapsed = nanoseconds() - begin;

  char line[256];
  if (failed != 0) return report(descriptor, line, snprintf(line, sizeof line, "error %d\n", failed));
  return report(descriptor, line,
                snprintf(line, sizeof line, "%lld %lld %lld %ld %ld %ld %ld %ld %d\n", elapsed,
                         microseconds(took.ru_utime), microseconds(took.ru_stime), took.ru_maxrss,
                         took.ru_minflt, took.ru_majflt, took.ru_nvcsw, took.ru_nivcsw, status));
}
