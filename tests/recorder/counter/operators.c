// Every operator new and delete, under its name in the Itanium ABI, served by the program's C++ library.
//
// They leave by return or by an exception, so that each call ends in a cleanup: built with -fexceptions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "counter/enter.h"

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
