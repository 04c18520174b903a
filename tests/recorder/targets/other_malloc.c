// Another malloc to preload: a bump allocator whose calloc and realloc call its malloc by name, as the
// dynamic linker finds it, and which allocates while it is looked up.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { bytes = 1 << 30, header = 16 };
static char memory[bytes];
static atomic_size_t used;

static void* take(size_t alignment, size_t size) {
  if (size > bytes) return NULL;
  const size_t at = atomic_fetch_add(&used, size + alignment + header);
  if (at + size + alignment + header > bytes) return NULL;
  char* p = (char*)(((uintptr_t)memory + at + header + alignment - 1) / alignment * alignment);
  memcpy(p - sizeof size, &size, sizeof size);
  return p;
}

void* malloc(size_t size) { return take(16, size); }
void free(void* p) { (void)p; }
void* aligned_alloc(size_t alignment, size_t size) { return take(alignment < 16 ? 16 : alignment, size); }
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
void* valloc(size_t size) { return take(4096, size); }
void* pvalloc(size_t size) { return take(4096, (size + 4095) / 4096 * 4096); }
void* calloc(size_t count, size_t size) {
  return count != 0 && size > bytes / count ? NULL : malloc(count * size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  *out = aligned_alloc(alignment, size);
  return *out == NULL ? ENOMEM : 0;
}

size_t malloc_usable_size(void* p) {
  size_t size = 0;
  if (p != NULL) memcpy(&size, (char*)p - sizeof size, sizeof size);
  return size;
}

void* realloc(void* p, size_t size) {
  void* moved = malloc(size);
  const size_t old = malloc_usable_size(p);
  if (moved != NULL && p != NULL) memcpy(moved, p, old < size ? old : size);
  return moved;
}

void* reallocarray(void* p, size_t count, size_t size) { return realloc(p, count * size); }
