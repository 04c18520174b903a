// jumps_out: a timer's handler leaves whatever runs by longjmp, again and again, and often out of malloc;
// then 1000 blocks of 6666 bytes are allocated from a frame deeper than any before. To be run with a
// malloc that bears it (other_malloc): glibc's does not.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static sigjmp_buf again;
static volatile sig_atomic_t jumps;

static void jump(int unused) {
  (void)unused;
  ++jumps;
  siglongjmp(again, 1);
}

static int descend(int levels) {
  volatile char frame[64];
  frame[0] = (char)levels;
  if (levels > 0) return descend(levels - 1) + frame[0];
  for (int i = 0; i < 1000; ++i)
    if (do_malloc(6666) == NULL) exit(1);
  return 0;
}

int main(void) {
  signal(SIGALRM, jump);
  const struct itimerval often = {{0, 200}, {0, 200}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  if (sigsetjmp(again, 1) == 0) setitimer(ITIMER_REAL, &often, NULL);
  while (jumps < 200) do_malloc(16);  // never freed: a jump may leave any block behind
  setitimer(ITIMER_REAL, &never, NULL);
  signal(SIGALRM, SIG_IGN);
  do_malloc(16);
  return descend(100) == -1;
}
