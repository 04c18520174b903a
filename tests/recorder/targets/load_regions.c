/* load_regions: uses talloc by a plug-in that is loaded for itself alone, and again after unloading it.
 * Asks for a function of talloc while the program has none, too. */
#include <dlfcn.h>

int main(int count, char** arguments) {
  (void)count;
  int (*free_none)(void*, const char*) = 0;
  *(void**)&free_none = dlsym(RTLD_DEFAULT, "_talloc_free");
  if (free_none && free_none(0, "") == 0) return 2;
  for (int round = 0; round < 2; ++round) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) return 3;
    int (*use_regions)(void) = 0;
    *(void**)&use_regions = dlsym(plugin, "use_regions");
    if (!use_regions || use_regions() != 0) return 4;
    if (dlclose(plugin) != 0) return 5;
  }
  return 0;
}
