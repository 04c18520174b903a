/* apr_pools: pools in pools, and what APR allocates in them on its own; prints "region kind count" for
 * each of them. Pools that die with a cleared one are ended by APR itself. */
#include <apr_general.h>
#include <apr_pools.h>
#include <apr_strings.h>
#include <stdio.h>
#include <stdlib.h>

/* The function, not the macro. */
#undef apr_pcalloc
void* apr_pcalloc(apr_pool_t* pool, apr_size_t size);

static void print(const apr_pool_t* pool, const char* kind, int count) {
  printf("%lu %s %d\n", (unsigned long)(size_t)pool, kind, count);
}

int main(void) {
  if (apr_initialize() != 0) return 1;
  apr_pool_t *outer, *inner, *cleared, *alone;
  if (apr_pool_create(&outer, NULL) != 0 || apr_pool_create(&inner, outer) != 0 ||
      apr_pool_create(&cleared, outer) != 0 || apr_pool_create_unmanaged_ex(&alone, NULL, NULL) != 0)
    return 1;
  for (int i = 0; i < 1000; ++i) apr_palloc(outer, 24);
  for (int i = 0; i < 10; ++i) apr_pcalloc(inner, 3000);
  apr_pstrdup(inner, "a text");
  apr_psprintf(inner, "%d %s", 17, "numbers");
  apr_pool_t* child;
  for (int i = 0; i < 3; ++i) {
    if (apr_pool_create(&child, cleared) != 0) return 1;
    apr_palloc(child, 100);
    apr_palloc(cleared, 100);
    apr_pool_clear(cleared);
    print(child, "region_create", 1);
    print(child, "region_allocate", 1);
    print(child, "region_destroy", 1);
  }
  apr_pool_destroy(alone);
  apr_pool_destroy(inner);
  apr_pool_destroy(outer);

  print(outer, "region_create", 1);
  print(outer, "region_allocate", 1000);
  print(outer, "region_destroy", 1);
  print(inner, "region_create", 1);
  print(inner, "region_allocate", 12);
  print(inner, "region_destroy", 1);
  print(cleared, "region_create", 1);
  print(cleared, "region_allocate", 3);
  print(cleared, "region_clear", 3);
  print(alone, "region_create", 1);
  print(alone, "region_destroy", 1);
  return 0;
}
