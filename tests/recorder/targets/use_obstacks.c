/* obstacks: two of them that grow and shrink by chunks; prints "region kind count" for each, counted by
 * the functions that they get their chunks from. */
#include <obstack.h>
#include <stdio.h>
#include <stdlib.h>

static int chunks_made, chunks_freed;

static void* make_chunk(size_t size) {
  ++chunks_made;
  return malloc(size);
}

static void free_chunk(void* chunk) {
  ++chunks_freed;
  free(chunk);
}

#define obstack_chunk_alloc make_chunk
#define obstack_chunk_free free_chunk

static void print(const struct obstack* h, const char* kind, int count) {
  printf("%lu %s %d\n", (unsigned long)(size_t)h, kind, count);
}

int main(void) {
  struct obstack many, large;
  obstack_init(&many);
  obstack_alloc(&many, 10);
  void* kept = obstack_alloc(&many, 20);
  for (int i = 0; i < 1000; ++i) obstack_alloc(&many, 100);
  obstack_free(&many, kept);
  for (int i = 0; i < 100; ++i) obstack_alloc(&many, 1000);
  print(&many, "region_create", 1);
  print(&many, "region_allocate", chunks_made);
  print(&many, "region_free", chunks_freed);
  obstack_free(&many, NULL);
  print(&many, "region_destroy", 1);

  /* One object that outgrows chunk after chunk: each held nothing else. */
  chunks_made = chunks_freed = 0;
  obstack_begin(&large, 500);
  for (int i = 0; i < 100000; ++i) obstack_1grow(&large, 'x');
  obstack_finish(&large);
  print(&large, "region_create", 1);
  print(&large, "region_allocate", chunks_made);
  print(&large, "region_free", chunks_freed);
  obstack_free(&large, NULL);
  print(&large, "region_destroy", 1);
  return 0;
}
