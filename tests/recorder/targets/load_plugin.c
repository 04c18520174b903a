// load_plugin PLUGIN [deep]: loads it, with RTLD_DEEPBIND on demand, has it allocate, says "ready" and waits
// for its end, whichever it will be: of its input, or its own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int main(int count, char** arguments) {
  if (count != 2 && count != 3) return 2;
  void* plugin = dlopen(arguments[1], RTLD_NOW | (count == 3 ? RTLD_DEEPBIND : 0));
  if (plugin == NULL) return 3;
  int (*allocate)(void) = NULL;
  *(void**)&allocate = dlsym(plugin, "allocate_in_plugin");
  if (allocate == NULL || allocate() != 0) return 4;
  if (write(1, "ready\n", 6) != 6) return 5;
  char c;
  return read(0, &c, 1) == 0 ? 0 : 6;
}
