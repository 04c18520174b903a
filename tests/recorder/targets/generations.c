// generations CHILDREN BLOCKS: makes so many children, ten at a time, each of which allocates so many blocks
// of 4444 bytes and ends without a word.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

int main(int count, char** arguments) {
  if (count != 3) return 99;
  const long blocks = atol(arguments[2]);
  int running = 0;
  for (long child = atol(arguments[1]); child > 0 || running > 0; --child) {
    int status = -1;
    if (child > 0 && fork() == 0) {
      for (long i = 0; i < blocks; ++i) do_free(do_malloc(4444));
      _exit(0);
    }
    if (child > 0) ++running;
    if (running < 10 && child > 1) continue;
    if (wait(&status) < 0 || status != 0) return 1;
    --running;
  }
  return 0;
}
