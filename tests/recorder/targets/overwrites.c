// overwrites HEARTBEAT AT BYTES PLUGIN: allocates a block of 3333 bytes, writes BYTES bytes over the spool
// that it is being recorded into, as a wild pointer could, goes on to load the plugin and to allocate far
// more than a ring holds, and says "done". The spool's word at HEARTBEAT grows with every round of reading.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

// Where the whole spool lies, of which the first page alone may be mapped as well.
static char* find_spool(void) {
  static char line[8192];
  char* found = NULL;
  unsigned long most = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (strstr(line, ".spool\n") == NULL || sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    if (end - begin <= most) continue;
    most = end - begin;
    found = (char*)begin;
  }
  return found;
}

// The reader has looked at everything that there was.
static void wait_for_reader(const char* spool, long heartbeat) {
  const volatile unsigned* beat = (const volatile unsigned*)(spool + heartbeat);
  const unsigned now = *beat;
  while (*beat - now < 12) usleep(1000);
}

int main(int count, char** arguments) {
  if (count != 5) return 99;
  do_free(do_malloc(3333));
  char* spool = find_spool();
  if (spool == NULL) return 98;
  wait_for_reader(spool, atol(arguments[1]));
  memset(spool + atol(arguments[2]), 0xff, (size_t)atol(arguments[3]));
  wait_for_reader(spool, atol(arguments[1]));
  void* plugin = dlopen(arguments[4], RTLD_NOW);
  int (*allocate)(void) = NULL;
  if (plugin != NULL) *(void**)&allocate = dlsym(plugin, "allocate_in_plugin");
  if (allocate == NULL || allocate() != 0) return 97;
  for (long i = 0; i < 20000; ++i) do_free(do_malloc(64));
  return write(1, "done\n", 5) == 5 ? 0 : 96;
}
