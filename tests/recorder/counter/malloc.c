// The malloc family, served by libc under the names that nobody interposes.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "counter/enter.h"

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* p, size_t size);
void __libc_free(void* p);
void* __libc_memalign(size_t alignment, size_t size);
void* __libc_valloc(size_t size);
void* __libc_pvalloc(size_t size);

#define MALLARD_EXPORTED __attribute__((visibility("default")))

MALLARD_EXPORTED void* malloc(size_t size);
MALLARD_EXPORTED void* calloc(size_t count, size_t size);
MALLARD_EXPORTED void* realloc(void* p, size_t size);
MALLARD_EXPORTED void* reallocarray(void* p, size_t count, size_t size);
MALLARD_EXPORTED void free(void* p);
MALLARD_EXPORTED void free_sized(void* p, size_t size);
MALLARD_EXPORTED void free_aligned_sized(void* p, size_t alignment, size_t size);
MALLARD_EXPORTED int posix_memalign(void** out, size_t alignment, size_t size);
MALLARD_EXPORTED void* aligned_alloc(size_t alignment, size_t size);
MALLARD_EXPORTED void* memalign(size_t alignment, size_t size);
MALLARD_EXPORTED void* valloc(size_t size);
MALLARD_EXPORTED void* pvalloc(size_t size);

#define MALLARD_COUNT(kind, expression) \
  do {                                  \
    enter(counted_##kind);              \
    void* served = (expression);        \
    leave();                            \
    return served;                      \
  } while (0)

#define MALLARD_COUNT_FREE(kind, p) \
  do {                              \
    if ((p) == NULL) return;        \
    enter(counted_##kind);          \
    __libc_free(p);                 \
    leave();                        \
  } while (0)

static void* resize(void* p, size_t count, size_t size) {
  size_t whole = 0;
  if (!__builtin_mul_overflow(count, size, &whole)) return __libc_realloc(p, whole);
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t size) { MALLARD_COUNT(malloc, __libc_malloc(size)); }
void* calloc(size_t count, size_t size) { MALLARD_COUNT(calloc, __libc_calloc(count, size)); }
void* realloc(void* p, size_t size) { MALLARD_COUNT(realloc, __libc_realloc(p, size)); }
void* reallocarray(void* p, size_t count, size_t size) {
  MALLARD_COUNT(reallocarray, resize(p, count, size));
}
void* aligned_alloc(size_t alignment, size_t size) {
  MALLARD_COUNT(aligned_alloc, __libc_memalign(alignment, size));
}
void* memalign(size_t alignment, size_t size) { MALLARD_COUNT(memalign, __libc_memalign(alignment, size)); }
void* valloc(size_t size) { MALLARD_COUNT(valloc, __libc_valloc(size)); }
void* pvalloc(size_t size) { MALLARD_COUNT(pvalloc, __libc_pvalloc(size)); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  enter(counted_posix_memalign);
  int error = EINVAL;
  if (alignment != 0 && alignment % sizeof(void*) == 0 && (alignment & (alignment - 1)) == 0) {
    void* served = __libc_memalign(alignment, size);
    error = served == NULL ? ENOMEM : 0;
    if (served != NULL) *out = served;
  }
  leave();
  return error;
}

void free(void* p) { MALLARD_COUNT_FREE(free, p); }

void free_sized(void* p, size_t size) {
  (void)size;
  MALLARD_COUNT_FREE(free_sized, p);
}

void free_aligned_sized(void* p, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  MALLARD_COUNT_FREE(free_aligned_sized, p);
}
