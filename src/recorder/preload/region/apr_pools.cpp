// The entry points of APR's pools: a pool is a region, named by its address, inside its parent.
//
// What APR allocates in a pool for its user (strings, files, tables) goes through apr_palloc and is recorded.
// Pools that end with their parent are part of its end; where APR ends them by its entry point, as
// apr_pool_clear does, each also has an end of its own. Programs built with APR_POOL_DEBUG call the *_debug
// forms; these lead to the plain ones, or the plain ones to them.
#include <stdarg.h>
#include <string.h>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/region/region_calls.hpp"

using namespace mallard::recorder;

extern "C" {
struct apr_pool_t;
struct apr_allocator_t;
using apr_abortfunc_t = int(int status);
}

namespace {

constexpr int apr_not_implemented = 70023;  // APR_ENOTIMPL

// The pool whose end the running entry point has recorded, in the one form or the other.
thread_local constinit apr_pool_t* ending = nullptr;

template <class... Arguments>
MALLARD_INLINE int create(int (*real)(apr_pool_t**, Arguments...), const call_site& site,
                          const apr_pool_t* parent, apr_pool_t** made, Arguments... arguments) {
  if (real == nullptr) return apr_not_implemented;
  const region_call here;
  const int status = real(made, arguments...);
  if (status == 0 && here.is_silent())
    record_counted_region(event_kind::region_create, *made, parent, 0, site);
  return status;
}

template <class... Arguments>
MALLARD_INLINE void* allocate(void* (*real)(apr_pool_t*, std::size_t, Arguments...), const call_site& site,
                              apr_pool_t* pool, std::size_t size, Arguments... arguments) {
  if (real == nullptr) return nullptr;
  const region_call here;
  void* block = real(pool, size, arguments...);
  if (block != nullptr && here.is_silent())
    record_counted_region(event_kind::region_allocate, pool, block, size, site);
  return block;
}

template <class... Arguments>
MALLARD_INLINE void end(void (*real)(apr_pool_t*, Arguments...), event_kind kind, const call_site& site,
                        apr_pool_t* pool, Arguments... arguments) {
  if (real == nullptr) return;
  if (ending != pool) record_counted_region(kind, pool, nullptr, 0, site);
  ending = pool;
  real(pool, arguments...);
  ending = nullptr;
}

}  // namespace

MALLARD_INTERPOSED int apr_pool_create_ex(apr_pool_t** made, apr_pool_t* parent, apr_abortfunc_t* on_abort,
                                          apr_allocator_t* allocator) {
  return create(MALLARD_REAL(apr_pool_create_ex), MALLARD_CALL_SITE, parent, made, parent, on_abort,
                allocator);
}

MALLARD_INTERPOSED int apr_pool_create_ex_debug(apr_pool_t** made, apr_pool_t* parent,
                                                apr_abortfunc_t* on_abort, apr_allocator_t* allocator,
                                                const char* place) {
  return create(MALLARD_REAL(apr_pool_create_ex_debug), MALLARD_CALL_SITE, parent, made, parent, on_abort,
                allocator, place);
}

MALLARD_INTERPOSED int apr_pool_create_core_ex(apr_pool_t** made, apr_abortfunc_t* on_abort,
                                               apr_allocator_t* allocator) {
  return create(MALLARD_REAL(apr_pool_create_core_ex), MALLARD_CALL_SITE, nullptr, made, on_abort, allocator);
}

MALLARD_INTERPOSED int apr_pool_create_core_ex_debug(apr_pool_t** made, apr_abortfunc_t* on_abort,
                                                     apr_allocator_t* allocator, const char* place) {
  return create(MALLARD_REAL(apr_pool_create_core_ex_debug), MALLARD_CALL_SITE, nullptr, made, on_abort,
                allocator, place);
}

MALLARD_INTERPOSED int apr_pool_create_unmanaged_ex(apr_pool_t** made, apr_abortfunc_t* on_abort,
                                                    apr_allocator_t* allocator) {
  return create(MALLARD_REAL(apr_pool_create_unmanaged_ex), MALLARD_CALL_SITE, nullptr, made, on_abort,
                allocator);
}

MALLARD_INTERPOSED int apr_pool_create_unmanaged_ex_debug(apr_pool_t** made, apr_abortfunc_t* on_abort,
                                                          apr_allocator_t* allocator, const char* place) {
  return create(MALLARD_REAL(apr_pool_create_unmanaged_ex_debug), MALLARD_CALL_SITE, nullptr, made, on_abort,
                allocator, place);
}

MALLARD_INTERPOSED void* apr_palloc(apr_pool_t* pool, std::size_t size) {
  return allocate(MALLARD_REAL(apr_palloc), MALLARD_CALL_SITE, pool, size);
}

MALLARD_INTERPOSED void* apr_palloc_debug(apr_pool_t* pool, std::size_t size, const char* place) {
  return allocate(MALLARD_REAL(apr_palloc_debug), MALLARD_CALL_SITE, pool, size, place);
}

MALLARD_INTERPOSED void* apr_pcalloc(apr_pool_t* pool, std::size_t size) {
  return allocate(MALLARD_REAL(apr_pcalloc), MALLARD_CALL_SITE, pool, size);
}

MALLARD_INTERPOSED void* apr_pcalloc_debug(apr_pool_t* pool, std::size_t size, const char* place) {
  return allocate(MALLARD_REAL(apr_pcalloc_debug), MALLARD_CALL_SITE, pool, size, place);
}

// Prints into the pool's own memory, past apr_palloc; apr_psprintf calls it.
MALLARD_INTERPOSED char* apr_pvsprintf(apr_pool_t* pool, const char* format, va_list arguments) {
  auto* real = MALLARD_REAL(apr_pvsprintf);
  if (real == nullptr) return nullptr;
  const region_call here;
  char* text = real(pool, format, arguments);
  if (text != nullptr && here.is_silent())
    record_counted_region(event_kind::region_allocate, pool, text, strlen(text) + 1, MALLARD_CALL_SITE);
  return text;
}

MALLARD_INTERPOSED void apr_pool_clear(apr_pool_t* pool) {
  end(MALLARD_REAL(apr_pool_clear), event_kind::region_clear, MALLARD_CALL_SITE, pool);
}

MALLARD_INTERPOSED void apr_pool_clear_debug(apr_pool_t* pool, const char* place) {
  end(MALLARD_REAL(apr_pool_clear_debug), event_kind::region_clear, MALLARD_CALL_SITE, pool, place);
}

MALLARD_INTERPOSED void apr_pool_destroy(apr_pool_t* pool) {
  end(MALLARD_REAL(apr_pool_destroy), event_kind::region_destroy, MALLARD_CALL_SITE, pool);
}

MALLARD_INTERPOSED void apr_pool_destroy_debug(apr_pool_t* pool, const char* place) {
  end(MALLARD_REAL(apr_pool_destroy_debug), event_kind::region_destroy, MALLARD_CALL_SITE, pool, place);
}
