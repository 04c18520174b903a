// limits HOW [MIB]: a program that limits itself, and then allocates 4000 bytes in blocks of its own size;
// its exit code is 3 if it reaches its end.
//
//   memory MIB     RLIMIT_AS before the first call of malloc
//   thread MIB     the same, then a thread
//   room MIB       the same, then counts how many MiB it can allocate
//   filter         a filter that kills for all calls but those of libc's malloc, printf and exit
//   filter_thread  the same, with a second thread that began before
//   filter_stack   the same, but the thread has allocated nothing before
//   errors         a filter that answers with EPERM instead
//   unseen         the first filter, by an instruction that no library sees
//   strict         seccomp's strict mode, left by the only way out
//   unseen_strict  the same, by an instruction that no library sees
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { pairs = 50000, size = 4321 };

static void allocate(void) {
  for (int i = 0; i < pairs; ++i) free(malloc(size));
}

static void* allocate_in_thread(void* unused) {
  (void)unused;
  allocate();
  return NULL;
}

static int limit_memory(const char* mib) {
  const rlim_t bytes = (rlim_t)atol(mib) << 20;
  const struct rlimit limit = {bytes, bytes};
  return setrlimit(RLIMIT_AS, &limit);
}

// On a stack of the program's own, so that it needs no more address space than the thread itself.
static int run_thread(void) {
  static char stack[1 << 20];
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, sizeof stack);
  if (pthread_create(&thread, &attributes, allocate_in_thread, NULL) != 0) return 1;
  return pthread_join(thread, NULL);
}

static int count_room(void) {
  int mib = 0;
  while (malloc(1 << 20) != NULL) ++mib;
  return mib;
}

#define ALLOW(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter instructions[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(write),
    ALLOW(exit_group),
    ALLOW(exit),
    ALLOW(brk),
    ALLOW(mmap),
    ALLOW(munmap),
    ALLOW(rt_sigreturn),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog filter = {sizeof instructions / sizeof *instructions, instructions};

static long enter_kernel(long number, long first, long second, const void* third) {
  long result = number;
#if defined(__x86_64__)
  __asm__ volatile("syscall" : "+a"(result) : "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
#else
  result = -ENOSYS;
#endif
  return result;
}

static int limit_calls(unsigned action) {
  instructions[filter.len - 1].k = action;
  free(malloc(1));  // the first call asks for random bytes
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

static sem_t begun;
static volatile int may_go_on = 0;

static void* allocate_later(void* before) {
  if (before != NULL) free(malloc(1));
  sem_post(&begun);
  while (!may_go_on) {
  }
  allocate();
  may_go_on = 2;
  for (;;) {
  }
  return before;
}

static int begin_thread(void* before) {
  pthread_t thread;
  sem_init(&begun, 0, 0);
  if (pthread_create(&thread, NULL, allocate_later, before) != 0) return 1;
  return sem_wait(&begun);
}

static int finish_thread(void) {
  may_go_on = 1;
  while (may_go_on != 2) {
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const char* mib = argc > 2 ? argv[2] : "0";
  int failed = 0;
  static char buffer[4096];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  if (strcmp(how, "memory") == 0) {
    failed = limit_memory(mib);
  } else if (strcmp(how, "thread") == 0) {
    free(malloc(1));
    failed = limit_memory(mib) || run_thread();
  } else if (strcmp(how, "room") == 0) {
    failed = limit_memory(mib) || count_room() < atol(mib) - 32;
  } else if (strcmp(how, "filter") == 0) {
    failed = limit_calls(SECCOMP_RET_KILL_PROCESS);
  } else if (strcmp(how, "filter_thread") == 0) {
    failed = begin_thread(&begun) || limit_calls(SECCOMP_RET_KILL_PROCESS) || finish_thread();
  } else if (strcmp(how, "filter_stack") == 0) {
    mallopt(M_ARENA_MAX, 1);  // an arena of the thread's own would need further calls
    failed = begin_thread(NULL) || limit_calls(SECCOMP_RET_KILL_PROCESS) || finish_thread();
  } else if (strcmp(how, "errors") == 0) {
    failed = limit_calls(SECCOMP_RET_ERRNO | EPERM);
  } else if (strcmp(how, "unseen") == 0) {
    free(malloc(1));
    failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
             enter_kernel(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0;
  } else if (strcmp(how, "strict") == 0) {
    allocate();
    failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
  } else if (strcmp(how, "unseen_strict") == 0) {
    free(malloc(size));
    failed = enter_kernel(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, NULL) != 0;
  } else {
    failed = 1;
  }
  if (failed) return 1;
  allocate();
  if (strstr(how, "strict") != NULL) enter_kernel(SYS_exit, 3, 0, NULL);
  puts("done");
  fflush(stdout);
  enter_kernel(SYS_exit_group, 3, 0, NULL);
  return 3;
}
