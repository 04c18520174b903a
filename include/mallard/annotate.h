/* annotate: tells the recorder what it cannot see, the regions of a program and its subsystems.
 *
 *     mallard_region_create(arena, NULL);             // a region: allocated in, then dropped as a whole
 *     mallard_region_allocate(arena, block, 24);      // 24 bytes at `block` belong to it
 *     mallard_region_destroy(arena);                  // they end, and so do the regions inside it
 *
 *     unsigned parsing = mallard_scope_begin("parser");   // what is allocated from here on ...
 *     mallard_scope_end(parsing);                         // ... is the parser's
 *     mallard::scope parsing("parser");                   // C++: until the end of the block
 *
 * For C11 and C++20, on its own: nothing is linked, nothing of mallard need be installed where the
 * program runs. All functions may be called from any thread, before main and after it, and do nothing
 * unless `mallard-record` runs the program. They never fail, allocate nothing, and keep no pointer.
 *
 * Cost: without the recorder a load and a branch, and one look-up by name in each translation unit (C++:
 * in each library). With it, a region's event is one event of the journal, like a malloc's; beginning a
 * scope takes some tens of ns, ending it a few.
 *
 * A region is named by any address, usually of its own object, and lives until it, or a region around it,
 * is destroyed. Creating one that lives moves it, with all that it holds, below the parent then named. Sizes
 * are in bytes. Pools of APR, chunks of talloc (each one a region that holds itself) and obstacks (regions
 * of their chunks) are recorded without any annotation.
 *
 * A scope belongs to the function that begins it, on this thread, and ends with it at latest: by return,
 * by an exception or by longjmp. (A C function that is left without ending its scope is noticed when
 * something is allocated, or a scope begun, further out on the stack.) Ending an outer scope ends those
 * inside it. Up to 64 are open on a thread, and a name counts up to its 255th byte; what exceeds that is
 * ignored. Scopes do not follow a program that switches stacks by itself (makecontext, say).
 *
 * How it works: the recorder's table of functions is looked up by dlsym(RTLD_DEFAULT, ...). A weak
 * reference to the table would need no look-up, but in a position-dependent program the linker makes it null
 * for good. dlsym itself is referred to weakly: a static program has none and cannot be recorded anyway, and
 * where libc keeps it in a library of its own, the program links that (-ldl) to be annotated.
 */
#ifndef MALLARD_ANNOTATE_H
#define MALLARD_ANNOTATE_H

#include <stddef.h>

#if defined(__linux__) && (defined(__GNUC__) || defined(__clang__))
#define MALLARD_ANNOTATE_FUNCTION inline __attribute__((always_inline))
#define MALLARD_ANNOTATE_RECORDER 1
#else
#define MALLARD_ANNOTATE_FUNCTION inline
#define MALLARD_ANNOTATE_RECORDER 0
#endif

#ifdef __cplusplus
#define MALLARD_ANNOTATE_LINKAGE
#define MALLARD_ANNOTATE_HIDDEN __attribute__((visibility("hidden"))) inline /* each library has its own */
extern "C" {
#else
#define MALLARD_ANNOTATE_LINKAGE static
#define MALLARD_ANNOTATE_HIDDEN static
#endif

/* What the recorder exports as `mallard_record_annotations`. Later versions add functions at its end. */
struct mallard_annotations {
  unsigned version; /* 1 */
  void (*region_create)(const void* region, const void* parent);
  void (*region_allocate)(const void* region, const void* block, size_t size);
  void (*region_free)(const void* region, const void* block);
  void (*region_clear)(const void* region);
  void (*region_destroy)(const void* region);
  unsigned (*scope_begin)(const char* name, const void* frame);
  void (*scope_end)(unsigned scope);
};

#if MALLARD_ANNOTATE_RECORDER

/* Stands for a recorder that has not been looked for. */
MALLARD_ANNOTATE_HIDDEN const struct mallard_annotations mallard_unknown_recorder = {0, 0, 0, 0, 0, 0, 0, 0};
/* Null: there is none. */
MALLARD_ANNOTATE_HIDDEN const struct mallard_annotations* mallard_known_recorder = &mallard_unknown_recorder;

/* The program's own dlsym and dlerror, null where it has none. */
extern void* mallard_dlsym(void* handle, const char* name) __asm__("dlsym") __attribute__((weak));
extern char* mallard_dlerror(void) __asm__("dlerror") __attribute__((weak));

MALLARD_ANNOTATE_HIDDEN __attribute__((cold, unused)) const struct mallard_annotations* mallard_find_recorder(
    void) {
  const struct mallard_annotations* found = NULL;
  if (mallard_dlsym) {
    found = (const struct mallard_annotations*)mallard_dlsym((void*)0, "mallard_record_annotations");
    if (!found && mallard_dlerror) mallard_dlerror(); /* the look-up's own error is nobody else's */
  }
  if (found && found->version < 1) found = NULL;
  __atomic_store_n(&mallard_known_recorder, found, __ATOMIC_RELAXED);
  return found;
}

#endif

/* The recorder, null without one. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION const struct mallard_annotations* mallard_recorder(void) {
#if MALLARD_ANNOTATE_RECORDER
  const struct mallard_annotations* known = __atomic_load_n(&mallard_known_recorder, __ATOMIC_RELAXED);
  if (__builtin_expect(known == NULL, 1)) return NULL;
  return known != &mallard_unknown_recorder ? known : mallard_find_recorder();
#else
  return NULL;
#endif
}

/* A region begins, inside `parent` unless that is null. One that lives already moves there. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION void mallard_region_create(const void* region,
                                                                              const void* parent) {
  const struct mallard_annotations* recorder = mallard_recorder();
  if (recorder) recorder->region_create(region, parent);
}

/* `size` bytes at `block` have been handed out from the region. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION void mallard_region_allocate(const void* region,
                                                                                const void* block,
                                                                                size_t size) {
  const struct mallard_annotations* recorder = mallard_recorder();
  if (recorder) recorder->region_allocate(region, block, size);
}

/* A single block of the region is about to be given back. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION void mallard_region_free(const void* region,
                                                                            const void* block) {
  const struct mallard_annotations* recorder = mallard_recorder();
  if (recorder) recorder->region_free(region, block);
}

/* All blocks of the region, and all regions inside it, are about to end; it lives on. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION void mallard_region_clear(const void* region) {
  const struct mallard_annotations* recorder = mallard_recorder();
  if (recorder) recorder->region_clear(region);
}

/* The region, its blocks and all regions inside it are about to end. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION void mallard_region_destroy(const void* region) {
  const struct mallard_annotations* recorder = mallard_recorder();
  if (recorder) recorder->region_destroy(region);
}

/* What this thread allocates from now on is the subsystem's of this name, until the scope ends. The result
 * is for mallard_scope_end. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION unsigned mallard_scope_begin(const char* name) {
  const struct mallard_annotations* recorder = mallard_recorder();
#if MALLARD_ANNOTATE_RECORDER
  if (recorder) return recorder->scope_begin(name, __builtin_frame_address(0));
#else
  (void)recorder, (void)name;
#endif
  return 0;
}

/* Ends the scope, and those that began inside it. */
MALLARD_ANNOTATE_LINKAGE MALLARD_ANNOTATE_FUNCTION void mallard_scope_end(unsigned scope) {
  const struct mallard_annotations* recorder = mallard_recorder();
  if (recorder) recorder->scope_end(scope);
}

#ifdef __cplusplus
}

namespace mallard {

/* A subsystem's scope for as long as the object, a local variable, lives. */
class scope {
 public:
  MALLARD_ANNOTATE_FUNCTION explicit scope(const char* name) noexcept : scope_(mallard_scope_begin(name)) {}
  MALLARD_ANNOTATE_FUNCTION ~scope() { mallard_scope_end(scope_); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 private:
  unsigned scope_;
};

}  // namespace mallard
#endif

#undef MALLARD_ANNOTATE_FUNCTION
#undef MALLARD_ANNOTATE_LINKAGE
#undef MALLARD_ANNOTATE_HIDDEN
#undef MALLARD_ANNOTATE_RECORDER

#endif
