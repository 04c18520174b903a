/* region_plugin: a plug-in that brings talloc along; nobody else in the program sees it. */
#include <stdio.h>
#include <talloc.h>

int use_regions(void) {
  void* top = talloc_new(NULL);
  for (int i = 0; i < 10; ++i) talloc_size(top, 100);
  printf("%lu region_create 1\n", (unsigned long)(size_t)top);
  printf("%lu region_allocate 1\n", (unsigned long)(size_t)top);
  printf("%lu region_destroy 1\n", (unsigned long)(size_t)top);
  return talloc_free(top);
}
