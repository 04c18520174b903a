// blocks few: one malloc, one calloc, one realloc and one free; says by its exit code which malloc served
// them, by
//     a size that only other_malloc would call usable.
// blocks pairs COUNT END: COUNT pairs of a malloc of 5555 bytes and a free, then an end of the kind asked
// for. blocks goes_on: says "ready", and when its input ends goes on to allocate far more than any ring
// holds, from two
//     threads, so that it must notice that nobody reads; then says "done".
// blocks threads WAVES THREADS PAIRS: WAVES times THREADS threads at once, each with PAIRS pairs of a malloc
// and a
//     free. The first block of each thread is freed by the main thread after the thread's end, and each
//     thread has a destructor that frees one more when the thread is nearly gone.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

static int few(void) {
  char* p = malloc(1001);
  char* zeros = calloc(3, 1001);
  const int other = malloc_usable_size(p) == 1001 && malloc_usable_size(zeros) == 3003;
  p = realloc(p, 2002);
  free(p);
  return other ? 10 : 11;
}

static int say(const char* line) {
  const size_t length = strlen(line);
  return write(1, line, length) == (ssize_t)length;
}

static int pairs(long count, const char* end) {
  for (; count > 0; --count) do_free(do_malloc(5555));
  if (strcmp(end, "return") == 0) return 5;
  if (strcmp(end, "exit") == 0) exit(6);
  if (strcmp(end, "_exit") == 0) _exit(7);
  if (strcmp(end, "abort") == 0) abort();
  if (strcmp(end, "segv") == 0) raise(SIGSEGV);
  if (strcmp(end, "kill") == 0) raise(SIGKILL);
  if (strcmp(end, "wait") == 0 && say("ready\n"))
    for (;;) pause();
  return 99;
}

static void* allocate_much(void* unused) {
  for (long i = 0; i < 200000; ++i) do_free(do_malloc(64));
  return unused;
}

static int goes_on(void) {
  do_free(do_malloc(64));
  if (!say("ready\n")) return 98;
  char c;
  while (read(0, &c, 1) == 1) {
  }
  pthread_t other;
  if (pthread_create(&other, NULL, allocate_much, NULL) != 0) return 97;
  allocate_much(NULL);
  pthread_join(other, NULL);
  return say("done\n") ? 0 : 98;
}

static pthread_key_t last_block;

static void* live_as_thread(void* argument) {
  const long count = *(long*)argument;
  void* handed_over = do_malloc(1111);
  pthread_setspecific(last_block, do_malloc(2222));
  for (long i = 0; i < count; ++i) do_free(do_malloc((size_t)(3000 + i % 100)));
  return handed_over;
}

static int threads(long waves, long count, long pairs_each) {
  static pthread_t running[4096];
  pthread_key_create(&last_block, free);
  for (long wave = 0; wave < waves; ++wave) {
    for (long i = 0; i < count; ++i)
      if (pthread_create(&running[i], NULL, live_as_thread, &pairs_each) != 0) return 1;
    for (long i = 0; i < count; ++i) {
      void* handed_over = NULL;
      pthread_join(running[i], &handed_over);
      do_free(handed_over);
    }
  }
  return 0;
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "few") == 0) return few();
  if (strcmp(what, "pairs") == 0 && count == 4) return pairs(atol(arguments[2]), arguments[3]);
  if (strcmp(what, "goes_on") == 0) return goes_on();
  if (strcmp(what, "threads") == 0 && count == 5)
    return threads(atol(arguments[2]), atol(arguments[3]), atol(arguments[4]));
  return 99;
}
