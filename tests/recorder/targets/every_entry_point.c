// Calls every entry point of the malloc family and writes what it did, a line a call, to standard output:
//     KIND ADDRESS SIZE ALIGNMENT OLD_ADDRESS
// Exits with 1 if an allocator's promise does not hold: contents, alignment, usable size, errno.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Not in every libc yet; the recorder brings them.
__attribute__((weak)) void free_sized(void* p, size_t size);
__attribute__((weak)) void free_aligned_sized(void* p, size_t alignment, size_t size);

static void check(int good, const char* what) {
  if (good) return;
  static const char before[] = "broken promise: ";
  if (write(2, before, sizeof before - 1) < 0 || write(2, what, strlen(what)) < 0 || write(2, "\n", 1) < 0)
    _exit(3);
  _exit(1);
}

static void say(const char* kind, const void* p, size_t size, size_t alignment, const void* old) {
  char line[200];
  const int length = snprintf(line, sizeof line, "%s %lu %lu %lu %lu\n", kind, (unsigned long)(uintptr_t)p,
                              (unsigned long)size, (unsigned long)alignment, (unsigned long)(uintptr_t)old);
  if (write(1, line, (size_t)length) != length) _exit(3);
}

static void use(void* p, size_t size, size_t alignment) {
  check(p != NULL, "allocated");
  check((uintptr_t)p % alignment == 0, "aligned");
  check(malloc_usable_size(p) >= size, "usable size");
  memset(p, 0x5a, malloc_usable_size(p));
}

// The compiler must not know what the functions do, or it leaves calls out.
static void* (*volatile do_malloc)(size_t) = malloc;
static void* (*volatile do_calloc)(size_t, size_t) = calloc;
static void* (*volatile do_realloc)(void*, size_t) = realloc;
static void* (*volatile do_reallocarray)(void*, size_t, size_t) = reallocarray;
static void (*volatile do_free)(void*) = free;

static void end(void* p) {
  say("free", p, 0, 0, NULL);
  errno = 77;
  do_free(p);
  check(errno == 77, "free keeps errno");
}

static void allocate_plainly(void) {
  errno = 77;
  char* p = do_malloc(100);
  check(errno == 77, "malloc keeps errno");
  use(p, 100, 16);
  say("malloc", p, 100, 0, NULL);

  char* zeros = do_calloc(7, 30);
  for (int i = 0; i < 210; ++i) check(zeros[i] == 0, "calloc clears");
  use(zeros, 210, 16);
  say("calloc", zeros, 210, 0, NULL);

  char* empty = do_malloc(0);
  check(empty != NULL, "malloc(0)");
  say("malloc", empty, 0, 0, NULL);

  end(p);
  end(zeros);
  end(empty);
  do_free(NULL);  // no event
}

static void allocate_aligned(void) {
  void* p = NULL;
  check(posix_memalign(&p, 256, 1000) == 0, "posix_memalign");
  use(p, 1000, 256);
  say("posix_memalign", p, 1000, 256, NULL);
  end(p);

  p = aligned_alloc(64, 640);
  use(p, 640, 64);
  say("aligned_alloc", p, 640, 64, NULL);
  end(p);

  p = memalign(4096, 50);
  use(p, 50, 4096);
  say("memalign", p, 50, 4096, NULL);
  end(p);

  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  p = valloc(333);
  use(p, 333, page);
  say("valloc", p, 333, 0, NULL);
  end(p);

  p = pvalloc(334);
  use(p, page, page);
  say("pvalloc", p, 334, 0, NULL);
  end(p);
}

static void reallocate(void) {
  char* p = do_realloc(NULL, 40);
  say("realloc", p, 40, 0, NULL);
  memset(p, 'x', 40);
  char* q = do_realloc(p, 400000);
  say("realloc", q, 400000, 0, p);
  for (int i = 0; i < 40; ++i) check(q[i] == 'x', "realloc keeps contents");
  char* r = do_reallocarray(q, 50, 20);
  say("reallocarray", r, 1000, 0, q);
  for (int i = 0; i < 40; ++i) check(r[i] == 'x', "reallocarray keeps contents");
  void* gone = do_realloc(r, 0);
  say("realloc", gone, 0, 0, r);
  check(gone == NULL, "realloc(p, 0) frees here");
}

static void fail(void) {
  errno = 0;
  check(do_malloc(PTRDIFF_MAX) == NULL && errno == ENOMEM, "a failed malloc says why");
  say("malloc", NULL, PTRDIFF_MAX, 0, NULL);
  errno = 0;
  check(do_calloc(SIZE_MAX / 2, 3) == NULL && errno == ENOMEM, "a calloc that overflows says why");
  say("calloc", NULL, SIZE_MAX, 0, NULL);
  void* p = (void*)1;
  check(posix_memalign(&p, 3, 10) == EINVAL, "posix_memalign refuses bad alignments");
  say("posix_memalign", NULL, 10, 3, NULL);
  char* kept = do_malloc(10);
  say("malloc", kept, 10, 0, NULL);
  check(do_realloc(kept, PTRDIFF_MAX) == NULL, "a failed realloc");
  say("realloc", NULL, PTRDIFF_MAX, 0, kept);
  end(kept);
}

static void free_with_size(void) {
  check(free_sized != NULL && free_aligned_sized != NULL, "sized forms are there while recorded");
  void* p = do_malloc(48);
  say("malloc", p, 48, 0, NULL);
  say("free_sized", p, 48, 0, NULL);
  free_sized(p, 48);
  void* q = aligned_alloc(128, 256);
  say("aligned_alloc", q, 256, 128, NULL);
  say("free_aligned_sized", q, 256, 128, NULL);
  free_aligned_sized(q, 128, 256);
  free_sized(NULL, 1);  // no event
}

int main(void) {
  allocate_plainly();
  allocate_aligned();
  reallocate();
  fail();
  free_with_size();
  return 0;
}
