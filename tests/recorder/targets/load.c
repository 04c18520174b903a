// load once PLUGIN [deep]: loads it, with RTLD_DEEPBIND on demand, has it allocate, says "ready" and waits
// for an
//     end, of its input or its own.
// load in_turn LOOPS PLUGIN...: in each loop loads each plugin, has it allocate and unloads it, so that the
// next one
//     is likely to take its place.
// load regions PLUGIN: uses talloc by a plug-in that is loaded with RTLD_LOCAL, and again after unloading it.
// Calls a
//     function of talloc while the program has none as well.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Calls the plug-in's function; 0 if that has succeeded.
static int call(void* plugin, const char* name) {
  int (*function)(void) = NULL;
  *(void**)&function = dlsym(plugin, name);
  return function == NULL ? 1 : function();
}

static int once(const char* path, int mode) {
  void* plugin = dlopen(path, RTLD_NOW | mode);
  if (plugin == NULL) return 3;
  if (call(plugin, "allocate_in_plugin") != 0) return 4;
  if (write(1, "ready\n", 6) != 6) return 5;
  char c;
  return read(0, &c, 1) == 0 ? 0 : 6;
}

static int load_and_unload(const char* path, const char* name) {
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) return 3;
  if (call(plugin, name) != 0) return 4;
  return dlclose(plugin) == 0 ? 0 : 5;
}

static int in_turn(long loops, char** paths) {
  for (; loops > 0; --loops) {
    for (char** path = paths; *path != NULL; ++path) {
      const int problem = load_and_unload(*path, "allocate_in_plugin");
      if (problem != 0) return problem;
    }
  }
  return 0;
}

static int regions(const char* path) {
  int (*free_none)(void*, const char*) = NULL;
  *(void**)&free_none = dlsym(RTLD_DEFAULT, "_talloc_free");
  if (free_none != NULL && free_none(NULL, "") == 0) return 2;
  for (int round = 0; round < 2; ++round) {
    const int problem = load_and_unload(path, "use_regions");
    if (problem != 0) return problem;
  }
  return 0;
}

int main(int count, char** arguments) {
  const char* what = count > 2 ? arguments[1] : "";
  if (strcmp(what, "once") == 0) return once(arguments[2], count == 4 ? RTLD_DEEPBIND : 0);
  if (strcmp(what, "in_turn") == 0) return in_turn(atol(arguments[2]), arguments + 3);
  if (strcmp(what, "regions") == 0) return regions(arguments[2]);
  return 2;
}
