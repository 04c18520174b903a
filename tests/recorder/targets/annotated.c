/* annotated: regions of its own, one inside the other, whose numbers of events of each kind it prints:
 * "region kind count", regions by address. Nothing of mallard is linked. */
#include <stdio.h>
#include <stdlib.h>

#include "mallard/annotate.h"

enum { blocks = 100 };

static char outer, inner, early;

static void print(const char* region, const char* kind, int count) {
  printf("%lu %s %d\n", (unsigned long)(size_t)region, kind, count);
}

__attribute__((constructor)) static void before_main(void) { mallard_region_create(&early, NULL); }

int main(void) {
  char* memory = malloc(16 * blocks);
  mallard_region_create(&outer, NULL);
  mallard_region_create(&inner, &outer);
  for (int i = 0; i < blocks; ++i) mallard_region_allocate(&outer, memory + 16 * i, 16);
  for (int i = 0; i < blocks; i += 4) mallard_region_free(&outer, memory + 16 * i);
  for (int round = 0; round < 3; ++round) {
    mallard_region_allocate(&inner, memory, 5000000000u);
    mallard_region_clear(&inner);
  }
  mallard_region_destroy(&outer);
  mallard_region_destroy(&early);
  free(memory);

  print(&early, "region_create", 1);
  print(&early, "region_destroy", 1);
  print(&outer, "region_create", 1);
  print(&outer, "region_allocate", blocks);
  print(&outer, "region_free", blocks / 4);
  print(&outer, "region_destroy", 1);
  print(&inner, "region_create", 1);
  print(&inner, "region_allocate", 3);
  print(&inner, "region_clear", 3);
  return 0;
}
