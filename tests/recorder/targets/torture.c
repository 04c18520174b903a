// torture ACT [ARGUMENT]: allocates blocks of 7321 bytes while it does what recorders seldom bear, says
// "done" and exits with 3, unless the act is about another end. What each act allocates is in
// torture_test.cpp.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

static char* own_path;
static char* argument;

static void pairs(int count) {
  for (int i = 0; i < count; ++i) do_free(do_malloc(7321));
}

static void* hundred_pairs(void* unused) {
  pairs(100);
  return unused;
}

static void need(int holds) {
  if (!holds) _exit(90);
}

static void run_threads(int count, size_t stack) {
  pthread_attr_t attributes;
  pthread_t threads[500];
  pthread_attr_init(&attributes);
  if (stack != 0) need(pthread_attr_setstacksize(&attributes, stack) == 0);
  for (int i = 0; i < count; ++i) need(pthread_create(&threads[i], &attributes, hundred_pairs, NULL) == 0);
  for (int i = 0; i < count; ++i) need(pthread_join(threads[i], NULL) == 0);
}

static void wait_for(pid_t child, int expected) {
  int status = 0;
  need(child > 0 && waitpid(child, &status, __WALL) == child);
  need(WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

// Limits: the second half is allocated under them, by a new thread.
static void under_limit(int which, rlim_t value) {
  const struct rlimit wanted = {value, value};
  pairs(100);
  need(setrlimit((__rlimit_resource_t)which, &wanted) == 0);
  run_threads(1, 0);
}
static void address_space(void) { under_limit(RLIMIT_AS, 64 << 20); }
static void descriptors(void) { under_limit(RLIMIT_NOFILE, 3); }
static void file_size(void) { under_limit(RLIMIT_FSIZE, 0); }
static void stack_size(void) { under_limit(RLIMIT_STACK, 128 << 10); }
static void data_size(void) { under_limit(RLIMIT_DATA, 32 << 20); }
static void core_size(void) { under_limit(RLIMIT_CORE, 0); }
static void queued_signals(void) { under_limit(RLIMIT_SIGPENDING, 0); }
static void locked_memory(void) {
  mlockall(MCL_CURRENT | MCL_FUTURE);  // who may not, tries
  run_threads(2, 64 << 10);
}

// Descriptors and files.
static void closed_descriptors(void) {
  pairs(100);
  for (int i = 3; i < 1024; ++i) close(i);
  run_threads(1, 0);
}
static void taken_descriptors(void) {
  const int null = open("/dev/null", O_RDWR);
  pairs(100);
  for (int i = 3; i < 1000; ++i) dup2(null, i);
  run_threads(1, 0);
}
static void no_standard_streams(void) {
  close(0);
  close(2);
  run_threads(1, 0);
}
static void removed_directory(void) {
  char place[] = "torture_XXXXXX";
  need(mkdtemp(place) != NULL && chdir(place) == 0);
  char whole[4096];
  need(getcwd(whole, sizeof whole) != NULL && rmdir(whole) == 0);
  run_threads(1, 0);
}
static void empty_root(void) {
  char place[] = "torture_XXXXXX";
  need(mkdtemp(place) != NULL);
  char* whole = realpath(place, NULL);
  const int before = open("/", O_RDONLY | O_DIRECTORY);
  if (chroot(place) == 0) {  // who may not, tries
    run_threads(1, 0);
    need(fchdir(before) == 0 && chroot(".") == 0);
  } else {
    run_threads(1, 0);
  }
  rmdir(whole);
  do_free(whole);
}
static void no_permissions_on_new_files(void) {
  umask(0777);
  const pid_t child = fork();
  if (child == 0) {
    pairs(100);
    _exit(4);
  }
  wait_for(child, 4);
}

// Signals.
static volatile sig_atomic_t caught;
static void count_signal(int number) { caught += number != 0; }
static void allocate_in_handler(int number) { pairs(number != 0 ? 1 : 0); }

static void handle(int number, void (*how)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = how;
  action.sa_flags = flags;
  need(sigaction(number, &action, NULL) == 0);
}
// The timer goes off again only once the loop goes on, so that a slow machine gets out of the handler, too.
static void timer_signals(void) {
  static char other_stack[64 << 10];
  const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  const struct itimerval soon = {{0, 0}, {0, 50}};
  need(sigaltstack(&stack, NULL) == 0);
  handle(SIGALRM, count_signal, SA_ONSTACK);
  int started = 0;
  for (int i = 0; i < 20000 || caught < 20; ++i) {
    if (started == caught) {
      ++started;
      need(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    }
    do_free(do_malloc(i < 20000 ? 7321 : 8));
  }
  while (caught < started) sched_yield();
}
static void signals_to_threads(void) {
  handle(SIGUSR1, count_signal, 0);
  pthread_t thread;
  for (int i = 0; i < 50; ++i) {
    need(pthread_create(&thread, NULL, hundred_pairs, NULL) == 0);
    for (int k = 0; k < 20; ++k) pthread_kill(thread, SIGUSR1);
    need(pthread_join(thread, NULL) == 0);
  }
}
static void allocating_handlers(void) {
  static char other_stack[64 << 10];
  const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  need(sigaltstack(&stack, NULL) == 0);
  handle(SIGUSR1, allocate_in_handler, SA_ONSTACK);
  handle(SIGUSR2, allocate_in_handler, 0);
  for (int i = 0; i < 50; ++i) {
    raise(SIGUSR1);
    raise(SIGUSR2);
  }
}
static void blocked_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  run_threads(2, 0);
}
static void stopped_and_continued(void) {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 5; ++i) {
      pairs(20);
      raise(SIGSTOP);
    }
    _exit(4);
  }
  int status = 0;
  while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) kill(child, SIGCONT);
  need(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

// Processes.
static void vforked(void) {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      execl(own_path, own_path, "plain", (char*)NULL);
      _exit(91);
    }
    wait_for(child, 3);
  }
}
static void vfork_without_exec(void) {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = vfork();
    if (child == 0) _exit(4);
    wait_for(child, 4);
    pairs(5);
  }
}
static int in_clone(void* unused) {
  pairs(100);
  return unused == NULL ? 4 : 5;
}
static void clone_with(int flags) {
  static char stack[256 << 10] __attribute__((aligned(16)));
  const pid_t child = clone(in_clone, stack + sizeof stack, flags | SIGCHLD, NULL);
  wait_for(child, 4);
  pairs(100);
}
static void clone_sharing_memory(void) { clone_with(CLONE_VM | CLONE_VFORK); }
static void clone_of_its_own(void) { clone_with(0); }
static void raw_clone(void) {
  const long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) _exit(4);
  wait_for((pid_t)child, 4);
  pairs(100);
}
static void forks_among_threads(void) {
  pthread_t thread;
  for (int i = 0; i < 20; ++i) {
    need(pthread_create(&thread, NULL, hundred_pairs, NULL) == 0);
    const pid_t child = fork();
    if (child == 0) {
      pairs(10);
      _exit(4);
    }
    wait_for(child, 4);
    need(pthread_join(thread, NULL) == 0);
  }
}
static void forks_in_forks(void) {
  for (int depth = 0; depth < 10; ++depth) {
    pairs(10);
    const pid_t child = fork();
    if (child == 0) continue;
    wait_for(child, 4);
    if (depth == 0) return;
    _exit(4);
  }
  _exit(4);
}
static void allocate_at_fork(void) { pairs(1); }
static void fork_handlers(void) {
  pthread_atfork(allocate_at_fork, allocate_at_fork, allocate_at_fork);
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(4);
    wait_for(child, 4);
  }
}
static void chain_of_execs(void) {
  const int left = atoi(argument);
  pairs(10);
  if (left == 0) return;
  char text[16];
  snprintf(text, sizeof text, "%d", left - 1);
  execl(own_path, own_path, "chain_of_execs", text, (char*)NULL);
  _exit(91);
}
static void exec_without_environment(void) {
  char* words[] = {own_path, (char*)"plain", NULL};
  char* nothing[] = {NULL};
  pairs(10);
  execve(own_path, words, nothing);
  _exit(91);
}
static void* exec_in_thread(void* unused) {
  execl(own_path, own_path, "plain", (char*)NULL);
  return unused;
}
static void exec_from_a_thread(void) {
  pthread_t thread;
  need(pthread_create(&thread, NULL, exec_in_thread, NULL) == 0);
  pthread_join(thread, NULL);
  _exit(91);
}
static void changed_user(void) {
  pairs(100);
  if (setgid(65534) != 0 || setuid(65534) != 0) prctl(PR_SET_DUMPABLE, 0);
  run_threads(1, 0);
}
static void traced_by_its_parent(void) {
  const pid_t child = fork();
  if (child == 0) {
    need(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    pairs(10);
    _exit(4);
  }
  int status = 0;
  need(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
  while (WIFSTOPPED(status)) {
    need(ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0);
    need(waitpid(child, &status, 0) == child);
  }
  need(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

// Threads and stacks.
static void plain(void) { pairs(100); }
static void many_threads(void) { run_threads(500, 0); }
static void small_stacks(void) { run_threads(20, 16 << 10); }
static void* allocate_until_cancelled(void* unused) {
  for (;;) {
    void* block = do_malloc(64);
    do_free(block);
    pthread_testcancel();
  }
  return unused;
}
static void cancelled_threads(void) {
  pthread_t thread;
  for (int i = 0; i < 50; ++i) {
    need(pthread_create(&thread, NULL, allocate_until_cancelled, NULL) == 0);
    pairs(10);
    pthread_cancel(thread);
    need(pthread_join(thread, NULL) == 0);
  }
}
// The kernel shows a process's mappings no more once its first thread has ended.
static int mappings_are_shown(void) {
  char first;
  const int maps = open("/proc/self/maps", O_RDONLY);
  const int shown = maps >= 0 && read(maps, &first, 1) == 1;
  if (maps >= 0) close(maps);
  return shown;
}
static void* finish_alone(void* unused) {
  while (mappings_are_shown()) sched_yield();
  pairs(100);
  if (write(1, "done\n", 5) == 5) exit(3);
  return unused;
}
static void end_of_the_first_thread(void) {
  pthread_t thread;
  need(pthread_create(&thread, NULL, finish_alone, NULL) == 0);
  pthread_exit(NULL);
}
static void allocate_with_key(void* unused) { pairs(unused != NULL ? 1 : 0); }
static void* with_key(void* key) {
  pthread_setspecific(*(pthread_key_t*)key, key);
  return NULL;
}
static void destructors_of_threads(void) {
  static pthread_key_t key;
  pthread_key_create(&key, allocate_with_key);
  pthread_t thread;
  for (int i = 0; i < 50; ++i) {
    need(pthread_create(&thread, NULL, with_key, &key) == 0);
    need(pthread_join(thread, NULL) == 0);
  }
}
static ucontext_t here;
static ucontext_t there;
static void other_context(void) {
  for (int i = 0; i < 100; ++i) {
    pairs(1);
    swapcontext(&there, &here);
  }
}
static void switched_stacks(void) {
  const size_t size = 128 << 10;
  getcontext(&there);
  there.uc_stack.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(&there, other_context, 0);
  for (int i = 0; i < 100; ++i) {
    swapcontext(&here, &there);
    pairs(1);
  }
}
static char* gone;
static int run_deep(int depth) {
  const int done = depth == 0 ? 0 : 1 + run_deep(depth - 1);
  pairs(1);
  return done;
}
static void on_the_upper(void) {
  run_deep(9);
  swapcontext(&there, &here);
}
static void on_the_lower(void) {
  munmap(gone, 128 << 10);
  run_deep(9);
  swapcontext(&there, &here);
}
static void stacks_that_go(void) {
  const size_t size = 128 << 10;
  for (int i = 0; i < 20; ++i) {
    char* lower = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    gone = lower + size;
    for (int upper = 1; upper >= 0; --upper) {
      getcontext(&there);
      there.uc_stack.ss_sp = upper ? gone : lower;
      there.uc_stack.ss_size = size;
      makecontext(&there, upper ? on_the_upper : on_the_lower, 0);
      swapcontext(&here, &there);
    }
    munmap(lower, size);
  }
}
static int recurse(int depth) {
  if (depth % 500 == 0) pairs(1);
  return depth == 0 ? 0 : 1 + recurse(depth - 1);
}
static void deep_recursion(void) { need(recurse(49999) == 49999); }

// Libraries and sizes.
static void loaded_again_and_again(void) {
  for (int i = 0; i < 200; ++i) {
    void* plugin = dlopen(argument, RTLD_NOW);
    need(plugin != NULL && dlsym(plugin, "allocate_in_plugin") != NULL);
    pairs(1);
    need(dlclose(plugin) == 0);
  }
}
static void odd_sizes(void) {
  static void* (*volatile do_calloc)(size_t, size_t) = calloc;
  static void* (*volatile do_realloc)(void*, size_t) = realloc;
  need(do_malloc((size_t)-1) == NULL && do_calloc((size_t)-1, 2) == NULL);
  need(do_realloc(NULL, (size_t)-1) == NULL);
  do_free(NULL);
  do_free(do_malloc(0));
  do_free(do_calloc(0, 8));
  do_free(do_realloc(do_malloc(1), 1 << 20));
  void* aligned = NULL;
  need(posix_memalign(&aligned, 3, 8) != 0 && posix_memalign(&aligned, 1 << 20, 8) == 0);
  do_free(aligned);
  pairs(100);
}
static void at_exit(void) { pairs(100); }
static void allocations_at_exit(void) { atexit(at_exit); }

static void quick(void) {
  pairs(100);
  quick_exit(3);
}

static const struct {
  const char* name;
  void (*act)(void);
} acts[] = {
#define ACT(name) {#name, name}
    ACT(plain),
    ACT(address_space),
    ACT(descriptors),
    ACT(file_size),
    ACT(stack_size),
    ACT(data_size),
    ACT(core_size),
    ACT(queued_signals),
    ACT(locked_memory),
    ACT(closed_descriptors),
    ACT(taken_descriptors),
    ACT(no_standard_streams),
    ACT(removed_directory),
    ACT(empty_root),
    ACT(no_permissions_on_new_files),
    ACT(timer_signals),
    ACT(signals_to_threads),
    ACT(allocating_handlers),
    ACT(blocked_signals),
    ACT(stopped_and_continued),
    ACT(vforked),
    ACT(vfork_without_exec),
    ACT(clone_sharing_memory),
    ACT(clone_of_its_own),
    ACT(raw_clone),
    ACT(forks_among_threads),
    ACT(forks_in_forks),
    ACT(fork_handlers),
    ACT(chain_of_execs),
    ACT(exec_without_environment),
    ACT(exec_from_a_thread),
    ACT(changed_user),
    ACT(traced_by_its_parent),
    ACT(many_threads),
    ACT(small_stacks),
    ACT(cancelled_threads),
    ACT(end_of_the_first_thread),
    ACT(destructors_of_threads),
    ACT(switched_stacks),
    ACT(stacks_that_go),
    ACT(deep_recursion),
    ACT(loaded_again_and_again),
    ACT(odd_sizes),
    ACT(allocations_at_exit),
    ACT(quick)};

int main(int count, char** arguments) {
  if (count < 2) return 99;
  own_path = arguments[0];
  argument = count > 2 ? arguments[2] : NULL;
  for (size_t i = 0; i < sizeof acts / sizeof *acts; ++i) {
    if (strcmp(acts[i].name, arguments[1]) != 0) continue;
    acts[i].act();
    return write(1, "done\n", 5) == 5 ? 3 : 98;
  }
  return 97;
}
