// The entry points of talloc: every chunk is a region, named by its address, inside the chunk that it was
// allocated in, and its own bytes are the one block of it.
//
//     talloc(parent, 24)             region_create chunk in parent, region_allocate 24 at chunk in chunk
//     talloc_free(chunk)             region_destroy chunk: with its bytes and all chunks inside
//     talloc_free_children(chunk)    region_clear chunk, region_allocate: its bytes stay
//     talloc_steal, talloc_reparent  region_create chunk in its new parent: it moves, with what is inside
//     talloc_realloc                 region_free, region_allocate in the same region; if the chunk moves, a
//                                    new region, into which the chunks inside move before the old one ends
//     talloc_pool                    region_create alone: its bytes are those of the chunks inside
//
// Chunks at the top have no parent. An end is recorded once talloc has carried it out, since destructors and
// references may refuse it. References are no events. Functions that are not interposed (talloc_move, those
// that append) call ones that are.
#include <stdarg.h>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/region/region_calls.hpp"

using namespace mallard::recorder;

// Called here and not interposed.
extern "C" {
std::size_t talloc_get_size(const void* chunk);
std::size_t talloc_reference_count(const void* chunk);
void* talloc_parent(const void* chunk);
void talloc_set_name_const(const void* chunk, const char* name);
void talloc_report_depth_cb(const void* chunk, int depth, int most,
                            void (*each)(const void*, int, int, int, void*), void* argument);
}

namespace {

void record_chunk(const void* chunk, const void* parent, std::size_t size, const call_site& site) {
  record_counted_region(event_kind::region_create, chunk, parent, 0, site);
  record_counted_region(event_kind::region_allocate, chunk, chunk, size, site);
}

template <class... Parameters, class... Arguments>
MALLARD_INLINE void* allocate(void* (*real)(const void*, Parameters...), const call_site& site,
                              std::size_t size, const void* parent, Arguments... arguments) {
  if (real == nullptr) return nullptr;
  const region_call here;
  void* chunk = real(parent, arguments...);
  if (chunk != nullptr && here.is_silent()) record_chunk(chunk, parent, size, site);
  return chunk;
}

template <class... Parameters, class... Arguments>
MALLARD_INLINE char* make_text(char* (*real)(const void*, Parameters...), const call_site& site,
                               const void* parent, Arguments... arguments) {
  if (real == nullptr) return nullptr;
  const region_call here;
  char* text = real(parent, arguments...);
  if (text != nullptr && here.is_silent()) record_chunk(text, parent, __builtin_strlen(text) + 1, site);
  return text;
}

struct moved_chunk {
  const void* chunk;
  const call_site& site;
};

// Each chunk inside `moved` belongs to its new address.
void move_child(const void* chunk, int depth, int, int is_reference, void* moved) {
  const auto& into = *static_cast<const moved_chunk*>(moved);
  if (depth == 1 && is_reference == 0)
    record_counted_region(event_kind::region_create, chunk, into.chunk, 0, into.site);
}

void record_resized(const void* old, const void* chunk, std::size_t size, const void* caller,
                    const call_site& site) {
  if (old == chunk) {
    record_counted_region(event_kind::region_free, chunk, chunk, 0, site);
    record_counted_region(event_kind::region_allocate, chunk, chunk, size, site);
    return;
  }
  auto* parent_of = MALLARD_REAL_FOR(talloc_parent, caller);
  auto* for_each = MALLARD_REAL_FOR(talloc_report_depth_cb, caller);
  record_chunk(chunk, parent_of != nullptr ? parent_of(chunk) : nullptr, size, site);
  moved_chunk moved{chunk, site};
  if (for_each != nullptr) for_each(chunk, 0, 1, move_child, &moved);
  record_counted_region(event_kind::region_destroy, old, nullptr, 0, site);
}

template <class... Arguments>
MALLARD_INLINE void* reallocate(void* (*real)(const void*, void*, Arguments...), const call_site& site,
                                std::size_t size, const void* parent, void* old, Arguments... arguments) {
  if (real == nullptr) return nullptr;
  const region_call here;
  void* chunk = real(parent, old, arguments...);
  if (chunk == nullptr || !here.is_silent()) return chunk;
  if (old == nullptr)
    record_chunk(chunk, parent, size, site);
  else
    record_resized(old, chunk, size, reinterpret_cast<const void*>(site.return_address), site);
  return chunk;
}

}  // namespace

MALLARD_INTERPOSED void* _talloc(const void* parent, std::size_t size) {
  return allocate(MALLARD_REAL(_talloc), MALLARD_CALL_SITE, size, parent, size);
}

MALLARD_INTERPOSED void* talloc_named_const(const void* parent, std::size_t size, const char* name) {
  return allocate(MALLARD_REAL(talloc_named_const), MALLARD_CALL_SITE, size, parent, size, name);
}

MALLARD_INTERPOSED void* _talloc_zero(const void* parent, std::size_t size, const char* name) {
  return allocate(MALLARD_REAL(_talloc_zero), MALLARD_CALL_SITE, size, parent, size, name);
}

MALLARD_INTERPOSED void* _talloc_array(const void* parent, std::size_t size, unsigned count,
                                       const char* name) {
  return allocate(MALLARD_REAL(_talloc_array), MALLARD_CALL_SITE, size * count, parent, size, count, name);
}

MALLARD_INTERPOSED void* _talloc_zero_array(const void* parent, std::size_t size, unsigned count,
                                            const char* name) {
  return allocate(MALLARD_REAL(_talloc_zero_array), MALLARD_CALL_SITE, size * count, parent, size, count,
                  name);
}

MALLARD_INTERPOSED void* _talloc_memdup(const void* parent, const void* from, std::size_t size,
                                        const char* name) {
  return allocate(MALLARD_REAL(_talloc_memdup), MALLARD_CALL_SITE, size, parent, from, size, name);
}

MALLARD_INTERPOSED void* _talloc_pooled_object(const void* parent, std::size_t size, const char* name,
                                               unsigned count, std::size_t whole) {
  return allocate(MALLARD_REAL(_talloc_pooled_object), MALLARD_CALL_SITE, size, parent, size, name, count,
                  whole);
}

MALLARD_INTERPOSED void* talloc_pool(const void* parent, std::size_t size) {
  auto* real = MALLARD_REAL(talloc_pool);
  if (real == nullptr) return nullptr;
  const region_call here;
  void* pool = real(parent, size);
  if (pool != nullptr && here.is_silent())
    record_counted_region(event_kind::region_create, pool, parent, 0, MALLARD_CALL_SITE);
  return pool;
}

MALLARD_INTERPOSED char* talloc_strdup(const void* parent, const char* text) {
  return make_text(MALLARD_REAL(talloc_strdup), MALLARD_CALL_SITE, parent, text);
}

MALLARD_INTERPOSED char* talloc_strndup(const void* parent, const char* text, std::size_t most) {
  return make_text(MALLARD_REAL(talloc_strndup), MALLARD_CALL_SITE, parent, text, most);
}

MALLARD_INTERPOSED char* talloc_vasprintf(const void* parent, const char* format, va_list arguments) {
  return make_text(MALLARD_REAL(talloc_vasprintf), MALLARD_CALL_SITE, parent, format, arguments);
}

MALLARD_INTERPOSED char* talloc_asprintf(const void* parent, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char* text = make_text(MALLARD_REAL(talloc_vasprintf), MALLARD_CALL_SITE, parent, format, arguments);
  va_end(arguments);
  return text;
}

namespace {

// Names a chunk by a text of its own inside it, as talloc does.
void* name_chunk(void* chunk, const char* format, va_list arguments, const void* caller) {
  auto* print = MALLARD_REAL_FOR(talloc_vasprintf, caller);
  auto* set_name = MALLARD_REAL_FOR(talloc_set_name_const, caller);
  if (chunk == nullptr || print == nullptr || set_name == nullptr) return chunk;
  char* name = print(chunk, format, arguments);
  if (name == nullptr) return chunk;
  set_name(name, ".name");
  set_name(chunk, name);
  return chunk;
}

}  // namespace

MALLARD_INTERPOSED void* talloc_named(const void* parent, std::size_t size, const char* format, ...) {
  const void* caller = __builtin_return_address(0);
  void* chunk = allocate(MALLARD_REAL(talloc_named_const), MALLARD_CALL_SITE, size, parent, size, "");
  va_list arguments;
  va_start(arguments, format);
  name_chunk(chunk, format, arguments, caller);
  va_end(arguments);
  return chunk;
}

MALLARD_INTERPOSED void* talloc_init(const char* format, ...) {
  const void* caller = __builtin_return_address(0);
  void* chunk = allocate(MALLARD_REAL(talloc_named_const), MALLARD_CALL_SITE, 0, nullptr, std::size_t{0}, "");
  va_list arguments;
  va_start(arguments, format);
  name_chunk(chunk, format, arguments, caller);
  va_end(arguments);
  return chunk;
}

MALLARD_INTERPOSED void* _talloc_realloc(const void* parent, void* old, std::size_t size, const char* name) {
  return reallocate(MALLARD_REAL(_talloc_realloc), MALLARD_CALL_SITE, size, parent, old, size, name);
}

MALLARD_INTERPOSED void* _talloc_realloc_array(const void* parent, void* old, std::size_t size,
                                               unsigned count, const char* name) {
  return reallocate(MALLARD_REAL(_talloc_realloc_array), MALLARD_CALL_SITE, size * count, parent, old, size,
                    count, name);
}

MALLARD_INTERPOSED void* talloc_realloc_fn(const void* parent, void* old, std::size_t size) {
  return reallocate(MALLARD_REAL(talloc_realloc_fn), MALLARD_CALL_SITE, size, parent, old, size);
}

MALLARD_INTERPOSED int _talloc_free(void* chunk, const char* place) {
  auto* real = MALLARD_REAL(_talloc_free);
  if (real == nullptr) return -1;
  const int status = real(chunk, place);
  if (status == 0) record_counted_region(event_kind::region_destroy, chunk, nullptr, 0, MALLARD_CALL_SITE);
  return status;
}

MALLARD_INTERPOSED int talloc_unlink(const void* parent, void* chunk) {
  const void* caller = __builtin_return_address(0);
  auto* real = MALLARD_REAL(talloc_unlink);
  auto* references_of = MALLARD_REAL_FOR(talloc_reference_count, caller);
  if (real == nullptr || references_of == nullptr) return -1;
  const bool is_last = chunk != nullptr && references_of(chunk) == 0;
  const region_call here;
  const int status = real(parent, chunk);
  if (status == 0 && is_last && here.is_silent())
    record_counted_region(event_kind::region_destroy, chunk, nullptr, 0, MALLARD_CALL_SITE);
  return status;
}

MALLARD_INTERPOSED void talloc_free_children(void* chunk) {
  const void* caller = __builtin_return_address(0);
  auto* real = MALLARD_REAL(talloc_free_children);
  auto* size_of = MALLARD_REAL_FOR(talloc_get_size, caller);
  if (real == nullptr || size_of == nullptr) return;
  real(chunk);
  if (chunk == nullptr) return;
  record_counted_region(event_kind::region_clear, chunk, nullptr, 0, MALLARD_CALL_SITE);
  record_counted_region(event_kind::region_allocate, chunk, chunk, size_of(chunk), MALLARD_CALL_SITE);
}

MALLARD_INTERPOSED void* _talloc_steal_loc(const void* parent, const void* chunk, const char* place) {
  auto* real = MALLARD_REAL(_talloc_steal_loc);
  if (real == nullptr) return nullptr;
  const region_call here;
  void* stolen = real(parent, chunk, place);
  if (stolen != nullptr && here.is_silent())
    record_counted_region(event_kind::region_create, chunk, parent, 0, MALLARD_CALL_SITE);
  return stolen;
}

MALLARD_INTERPOSED void* talloc_reparent(const void* from, const void* parent, const void* chunk) {
  auto* real = MALLARD_REAL(talloc_reparent);
  if (real == nullptr) return nullptr;
  const region_call here;
  void* moved = real(from, parent, chunk);
  if (moved != nullptr && here.is_silent())
    record_counted_region(event_kind::region_create, chunk, parent, 0, MALLARD_CALL_SITE);
  return moved;
}
