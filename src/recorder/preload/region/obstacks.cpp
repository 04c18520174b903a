// The functions among the entry points of obstacks: an obstack is a region, named by its address, and its
// chunks are the blocks. Objects inside are made by macros, which cannot be intercepted.
//
//     obstack_begin             region_create, region_allocate of the first chunk
//     obstack grows             region_allocate of the next chunk; region_free of one that held nothing else
//     obstack_free(h, object)   region_free of the chunks that are given back
//     obstack_free(h, NULL)     region_destroy
#include <obstack.h>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/region/region_calls.hpp"

#undef obstack_free

using namespace mallard::recorder;

namespace {

using chunk_maker = void*(long size);
using chunk_maker_with = void*(void* argument, long size);
using chunk_end = void(void* chunk);
using chunk_end_with = void(void* argument, void* chunk);

void record_chunk(const obstack* h, const call_site& site) {
  const _obstack_chunk* chunk = h->chunk;
  record_counted_region(event_kind::region_allocate, h, chunk,
                        static_cast<std::size_t>(chunk->limit - reinterpret_cast<const char*>(chunk)), site);
}

int record_begin(const obstack* h, int begun, const call_site& site) {
  if (begun == 0) return begun;
  record_counted_region(event_kind::region_create, h, nullptr, 0, site);
  record_chunk(h, site);
  return begun;
}

// The chunks inward of the one that holds `object` are about to be given back.
void record_freed_chunks(const obstack* h, const void* object, const call_site& site) {
  if (object == nullptr) return record_counted_region(event_kind::region_destroy, h, nullptr, 0, site);
  for (const _obstack_chunk* chunk = h->chunk;
       chunk != nullptr && (static_cast<const void*>(chunk) >= object || chunk->limit < object);
       chunk = chunk->prev)
    record_counted_region(event_kind::region_free, h, chunk, 0, site);
}

}  // namespace

MALLARD_INTERPOSED int _obstack_begin(obstack* h, int size, int alignment, chunk_maker* make,
                                      chunk_end* end) {
  return record_begin(h, MALLARD_REAL(_obstack_begin)(h, size, alignment, make, end), MALLARD_CALL_SITE);
}

MALLARD_INTERPOSED int _obstack_begin_1(obstack* h, int size, int alignment, chunk_maker_with* make,
                                        chunk_end_with* end, void* argument) {
  return record_begin(h, MALLARD_REAL(_obstack_begin_1)(h, size, alignment, make, end, argument),
                      MALLARD_CALL_SITE);
}

MALLARD_INTERPOSED void _obstack_newchunk(obstack* h, int length) {
  const _obstack_chunk* old = h->chunk;
  MALLARD_REAL(_obstack_newchunk)(h, length);
  record_chunk(h, MALLARD_CALL_SITE);
  if (h->chunk->prev != old) record_counted_region(event_kind::region_free, h, old, 0, MALLARD_CALL_SITE);
}

MALLARD_INTERPOSED void obstack_free(obstack* h, void* object) {
  record_freed_chunks(h, object, MALLARD_CALL_SITE);
  MALLARD_REAL(obstack_free)(h, object);
}

// Another name of it.
MALLARD_INTERPOSED void _obstack_free(obstack* h, void* object) {
  record_freed_chunks(h, object, MALLARD_CALL_SITE);
  MALLARD_REAL(_obstack_free)(h, object);
}
