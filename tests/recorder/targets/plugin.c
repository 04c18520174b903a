// Loaded by load_plugin at run time.
#include <stdlib.h>

int allocate_in_plugin(void);

int allocate_in_plugin(void) {
  void* (*volatile do_malloc)(size_t) = malloc;
  void* p = do_malloc(9999);
  return p == NULL;
}
