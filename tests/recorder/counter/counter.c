// counter: counts every call of the malloc family, which libc serves under names that nobody interposes, and
// of every operator new and delete, under its name in the Itanium ABI, which the program's C++ library
// serves. Operators leave by return or by an exception, so that each call ends in a cleanup: built with
// -fexceptions.
//
// A private page says which file the process counts in. The kernel gives a forked child zeros in its place,
// however it was forked, which is how the child knows that it needs a file of its own. A child that
// shares its parent's memory (vfork) shares its heap as well, and counts for it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counter/counts.h"

struct own_page {
  struct counts* file;
};

static __thread unsigned depth __attribute__((tls_model("initial-exec")));
static struct counts before_start;  // calls of libraries that are initialised before this one
static struct own_page* own;
static char folder[3000];

static void give_up(const char* what) {
  static const char name[] = "counter: ";
  if (write(2, name, sizeof name - 1) < 0 || write(2, what, strlen(what)) < 0 || write(2, "\n", 1) < 0)
    abort();
  _exit(124);
}

static struct counts* new_file(void) {
  char path[sizeof folder + 64];
  int descriptor = -1;
  for (int program = 0; descriptor < 0; ++program) {
    snprintf(path, sizeof path, "%s/%d.%d", folder, (int)getpid(), program);
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) give_up("cannot make a file in COUNTS_DIR");
  }
  if (posix_fallocate(descriptor, 0, sizeof(struct counts)) != 0) give_up("no room in COUNTS_DIR");
  struct counts* file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (file == MAP_FAILED) give_up("cannot map a file");
  close(descriptor);
  const ssize_t length = readlink("/proc/self/exe", file->program, sizeof file->program - 1);
  file->program[length < 0 ? 0 : length] = 0;
  file->forked = own != NULL;
  return file;
}

__attribute__((constructor)) static void start(void) {
  const char* chosen = getenv("COUNTS_DIR");
  if (chosen == NULL || strlen(chosen) >= sizeof folder) give_up("no COUNTS_DIR");
  strcpy(folder, chosen);
  struct own_page* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0) give_up("no page of its own");
  page->file = new_file();
  for (int kind = 0; kind < counted_kinds; ++kind) page->file->of_kind[kind] = before_start.of_kind[kind];
  own = page;
}

static struct counts* current(void) {
  if (own == NULL) return &before_start;
  struct counts* file = __atomic_load_n(&own->file, __ATOMIC_ACQUIRE);
  if (file == NULL) {  // the only thread of a forked child
    const int error = errno;
    file = new_file();
    __atomic_store_n(&own->file, file, __ATOMIC_RELEASE);
    errno = error;
  }
  return file;
}

// One call of an entry point, counted if it is not made from inside another one of the same thread: operator
// new is one `new`, the malloc in it is not a second event. A call is counted when it is made, whether it
// succeeds, fails or throws.
static void enter(enum counted_kind kind) {
  if (depth++ == 0) __atomic_fetch_add(&current()->of_kind[kind], 1, __ATOMIC_RELAXED);
}

static void leave(void) { --depth; }

// The malloc family.
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

// The operators.
// The same function of the libraries behind this one; of the C++ library itself where a plugin brought it.
static void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    found = library == NULL ? NULL : dlsym(library, name);
  }
  if (found == NULL) abort();
  return found;
}

static int begin(enum counted_kind kind) {
  enter(kind);
  return 0;
}

static void end(const int* unused) {
  (void)unused;
  leave();
}

#define MALLARD_CALL(kind) __attribute__((cleanup(end), unused)) const int call = begin(counted_##kind)

#define MALLARD_SERVE(type, name)                             \
  static void* found;                                         \
  void* function = __atomic_load_n(&found, __ATOMIC_ACQUIRE); \
  if (function == NULL) {                                     \
    function = next(name);                                    \
    __atomic_store_n(&found, function, __ATOMIC_RELEASE);     \
  }                                                           \
  type* const serve = (type*)(uintptr_t)function

// `parameters` in parentheses, as they stand in the signature; `arguments` likewise, as they are passed on.
#define MALLARD_NEW(kind, name, parameters, arguments)          \
  __attribute__((visibility("default"))) void* name parameters; \
  void* name parameters {                                       \
    typedef void* function_type parameters;                     \
    MALLARD_CALL(kind);                                         \
    MALLARD_SERVE(function_type, #name);                        \
    return serve arguments;                                     \
  }

#define MALLARD_DELETE(kind, name, parameters, arguments)      \
  __attribute__((visibility("default"))) void name parameters; \
  void name parameters {                                       \
    typedef void function_type parameters;                     \
    if (p == NULL) return;                                     \
    MALLARD_CALL(kind);                                        \
    MALLARD_SERVE(function_type, #name);                       \
    serve arguments;                                           \
  }

typedef const void* nothrow;

MALLARD_NEW(new, _Znwm, (size_t n), (n))
MALLARD_NEW(new, _ZnwmRKSt9nothrow_t, (size_t n, nothrow t), (n, t))
MALLARD_NEW(new, _ZnwmSt11align_val_t, (size_t n, size_t a), (n, a))
MALLARD_NEW(new, _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, nothrow t), (n, a, t))

MALLARD_NEW(new_array, _Znam, (size_t n), (n))
MALLARD_NEW(new_array, _ZnamRKSt9nothrow_t, (size_t n, nothrow t), (n, t))
MALLARD_NEW(new_array, _ZnamSt11align_val_t, (size_t n, size_t a), (n, a))
MALLARD_NEW(new_array, _ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, nothrow t), (n, a, t))

MALLARD_DELETE(delete, _ZdlPv, (void* p), (p))
MALLARD_DELETE(delete, _ZdlPvm, (void* p, size_t n), (p, n))
MALLARD_DELETE(delete, _ZdlPvRKSt9nothrow_t, (void* p, nothrow t), (p, t))
MALLARD_DELETE(delete, _ZdlPvSt11align_val_t, (void* p, size_t a), (p, a))
MALLARD_DELETE(delete, _ZdlPvmSt11align_val_t, (void* p, size_t n, size_t a), (p, n, a))
MALLARD_DELETE(delete, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void* p, size_t a, nothrow t), (p, a, t))

MALLARD_DELETE(delete_array, _ZdaPv, (void* p), (p))
MALLARD_DELETE(delete_array, _ZdaPvm, (void* p, size_t n), (p, n))
MALLARD_DELETE(delete_array, _ZdaPvRKSt9nothrow_t, (void* p, nothrow t), (p, t))
MALLARD_DELETE(delete_array, _ZdaPvSt11align_val_t, (void* p, size_t a), (p, a))
MALLARD_DELETE(delete_array, _ZdaPvmSt11align_val_t, (void* p, size_t n, size_t a), (p, n, a))
MALLARD_DELETE(delete_array, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void* p, size_t a, nothrow t), (p, a, t))
