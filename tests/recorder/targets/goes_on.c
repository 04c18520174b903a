// goes_on: says "ready", and when its input ends goes on to allocate far more than any ring holds, from
// two threads, so that it cannot but notice that nobody reads; then says "done".
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

static void* work(void* unused) {
  for (long i = 0; i < 200000; ++i) do_free(do_malloc(64));
  return unused;
}

int main(void) {
  do_free(do_malloc(64));
  if (write(1, "ready\n", 6) != 6) return 98;
  char c;
  while (read(0, &c, 1) == 1) {
  }
  pthread_t other;
  if (pthread_create(&other, NULL, work, NULL) != 0) return 97;
  work(NULL);
  pthread_join(other, NULL);
  return write(1, "done\n", 5) == 5 ? 0 : 98;
}
