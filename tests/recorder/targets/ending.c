// ending PAIRS HOW: so many pairs of a malloc of 5555 bytes and a free, then an end of the kind asked for.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

int main(int count, char** arguments) {
  if (count != 3) return 99;
  for (long i = atol(arguments[1]); i > 0; --i) do_free(do_malloc(5555));
  const char* how = arguments[2];
  if (strcmp(how, "return") == 0) return 5;
  if (strcmp(how, "exit") == 0) exit(6);
  if (strcmp(how, "_exit") == 0) _exit(7);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "wait") == 0) {
    if (write(1, "ready\n", 6) != 6) return 98;
    for (;;) pause();
  }
  return 99;
}
