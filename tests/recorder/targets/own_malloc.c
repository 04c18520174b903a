// A program that brings its own malloc: what it allocates never reaches a preloaded library.
#include <stddef.h>
#include <string.h>

static char memory[1 << 20];
static size_t used;

void* malloc(size_t size) {
  void* p = memory + used;
  used += (size + 15) & ~(size_t)15;
  return p;
}
void free(void* p) { (void)p; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* p, size_t size) {
  void* moved = malloc(size);
  if (p != NULL) memcpy(moved, p, size);
  return moved;
}

int main(void) {
  void* (*volatile do_malloc)(size_t) = malloc;
  return do_malloc(10) == NULL;
}
