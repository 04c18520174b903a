// forks_among_threads FORKS: forks while three threads allocate without a pause. Each child allocates 200
// blocks of 7000 bytes, every third of them in a thread of its own as well, and ends; an alarm ends whoever
// hangs.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;
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

static void* allocate(void* unused) {
  for (int i = 0; i < 200; ++i) do_free(do_malloc(7000));
  return unused;
}

static void live_as_child(long number) {
  alarm(20);
  allocate(NULL);
  pthread_t thread;
  if (number % 3 == 0 &&
      (pthread_create(&thread, NULL, allocate, NULL) != 0 || pthread_join(thread, NULL) != 0))
    _exit(2);
  if (number % 2 == 0) exit(0);
  _exit(0);
}

int main(int count, char** arguments) {
  if (count != 2) return 99;
  alarm(20);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    if (pthread_create(&threads[i], NULL, churn, NULL) != 0) return 98;
  for (long number = atol(arguments[1]); number > 0; --number) {
    const pid_t child = fork();
    if (child == 0) live_as_child(number);
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
    allocate(NULL);
  }
  stop = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  return 0;
}
