// many_threads WAVES THREADS PAIRS: WAVES times THREADS threads at once, each with PAIRS pairs of a malloc
// and a free. The first block of each thread is freed by the main thread after the thread's end, and each
// thread has a destructor that frees one more when the thread is nearly gone.
#include <pthread.h>
#include <stdlib.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;
static pthread_key_t last_block;

static void* work(void* argument) {
  const long pairs = *(long*)argument;
  void* handed_over = do_malloc(1111);
  pthread_setspecific(last_block, do_malloc(2222));
  for (long i = 0; i < pairs; ++i) do_free(do_malloc((size_t)(3000 + i % 100)));
  return handed_over;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const long waves = atol(arguments[1]);
  const long threads = atol(arguments[2]);
  long pairs = atol(arguments[3]);
  static pthread_t running[4096];
  pthread_key_create(&last_block, free);
  for (long wave = 0; wave < waves; ++wave) {
    for (long i = 0; i < threads; ++i)
      if (pthread_create(&running[i], NULL, work, &pairs) != 0) return 1;
    for (long i = 0; i < threads; ++i) {
      void* handed_over = NULL;
      pthread_join(running[i], &handed_over);
      do_free(handed_over);
    }
  }
  return 0;
}
