// plugin_loop LOOPS PLUGIN...: in each loop loads each plugin, has it allocate and unloads it, so that the
// next one is likely to take its place.
#include <dlfcn.h>
#include <stdlib.h>

int main(int count, char** arguments) {
  if (count < 3) return 2;
  for (long loop = atol(arguments[1]); loop > 0; --loop) {
    for (int i = 2; i < count; ++i) {
      void* plugin = dlopen(arguments[i], RTLD_NOW);
      if (plugin == NULL) return 3;
      int (*allocate)(void) = NULL;
      *(void**)&allocate = dlsym(plugin, "allocate_in_plugin");
      if (allocate == NULL || allocate() != 0) return 4;
      if (dlclose(plugin) != 0) return 5;
    }
  }
  return 0;
}
