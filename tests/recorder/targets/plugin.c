// Loaded by load at run time; other_plugin is the same with other blocks.
#include <stdlib.h>

#ifndef MALLARD_BLOCK_SIZE
#define MALLARD_BLOCK_SIZE 9999
#endif

int allocate_in_plugin(void);

int allocate_in_plugin(void) {
  void* (*volatile do_malloc)(size_t) = malloc;
  void* p = do_malloc(MALLARD_BLOCK_SIZE);
  return p == NULL;
}
