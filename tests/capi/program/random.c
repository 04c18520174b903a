/* Drives a heap at random and remembers what must hold: every block keeps what was written into it, over all
 * that is usable, until it ends; a heap that has nothing left harms none of them. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "mallard.h"

enum { places = 300, steps = 20000 };

struct live {
  unsigned char* block; /* NULL: none */
  size_t size;          /* bytes that are known to be its own */
  unsigned char mark;   /* what all of them hold */
};

static uint64_t state;

static size_t below(size_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(state >> 33) % limit;
}

static size_t any_size(void) {
  return below(8) == 0 ? below(100000) : below(8) == 0 ? below(4000) : below(200);
}

static void check_marks(const unsigned char* block, size_t size, unsigned char mark) {
  size_t i;
  for (i = 0; i < size; ++i) CHECK(block[i] == mark);
}

static void check_and_fill(struct live* place, mallard_heap* heap, void* block, size_t size) {
  CHECK((uintptr_t)block % MALLARD_ALIGNMENT == 0);
  CHECK(mallard_heap_usable_size(heap, block) >= size);
  place->block = block;
  place->size = mallard_heap_usable_size(heap, block);
  place->mark = (unsigned char)below(256);
  memset(block, place->mark, place->size);
}

static void allocate(mallard_heap* heap, struct live* place) {
  const size_t size = any_size();
  const size_t alignment = (size_t)1 << below(10);
  void* const block = below(2) == 0 ? mallard_heap_allocate(heap, size)
                                    : mallard_heap_allocate_aligned(heap, alignment, size);
  if (block != NULL) check_and_fill(place, heap, block, size);
}

static void end(mallard_heap* heap, struct live* place) {
  check_marks(place->block, place->size, place->mark);
  mallard_heap_free(heap, place->block);
  place->block = NULL;
}

static void reallocate(mallard_heap* heap, struct live* place) {
  const size_t size = any_size();
  const size_t kept = size < place->size ? size : place->size;
  void* const block = mallard_heap_reallocate(heap, place->block, size);
  if (block == NULL) return;
  check_marks(block, kept, place->mark);
  check_and_fill(place, heap, block, size);
}

/* Objects of any size, both ways and anew; what stays lies where it was. */
static void resize(mallard_heap* heap, struct live* place) {
  static const size_t sizes[] = {1, 3, 12, 24, 4096};
  const size_t size = sizes[below(5)];
  const size_t has = place->size / size;
  const unsigned command = (unsigned)(1 + below(7));
  const size_t limit = has + 1 + below(20);
  const mallard_command_result told =
      mallard_heap_allocation_command(heap, command, size, 1, limit, limit + below(2 * limit), place->block);
  if (told.first == NULL) return;
  CHECK(told.received >= limit);
  CHECK(told.received == mallard_heap_usable_size(heap, told.first) / size);
  check_marks(place->block, place->size, place->mark);
  if (told.reused) {
    CHECK((size_t)(place->block - (unsigned char*)told.first) % size == 0);
  } else {
    CHECK((command & MALLARD_ALLOCATE_NEW) != 0);
    mallard_heap_free(heap, place->block);
  }
  check_and_fill(place, heap, told.first, limit * size);
}

static void shrink(mallard_heap* heap, struct live* place) {
  const size_t limit = below(place->size) + 1;
  const unsigned command = below(2) == 0 ? MALLARD_SHRINK_IN_PLACE : MALLARD_TRY_SHRINK_IN_PLACE;
  const mallard_command_result told =
      mallard_heap_allocation_command(heap, command, 1, 1, limit, below(limit), place->block);
  if (told.first == NULL) {
    CHECK(command == MALLARD_SHRINK_IN_PLACE);
    return;
  }
  CHECK(told.first == place->block && told.reused && told.received <= place->size);
  CHECK(told.received <= limit || command == MALLARD_TRY_SHRINK_IN_PLACE);
  place->size = told.received;
}

/* Into the places that are free, and out of those that are not. */
static void burst(mallard_heap* heap, struct live* live) {
  size_t lengths[20];
  mallard_chain chain = MALLARD_CHAIN;
  const size_t count = below(20);
  const size_t size = any_size() / 8;
  const bool alike = below(2) == 0;
  size_t i;
  size_t place = 0;
  for (i = 0; i < count; ++i) lengths[i] = alike ? size : any_size() / 8;
  if (alike ? !mallard_heap_allocate_nodes(heap, &chain, count, size, 8, below(3) * 1000)
            : !mallard_heap_allocate_arrays(heap, &chain, lengths, count, 1, 8, below(3) * 1000))
    return;
  CHECK(chain.count == count);
  for (i = 0; i < count; ++i) {
    void* const block = mallard_chain_pop_front(&chain);
    while (place < places && live[place].block != NULL) ++place;
    if (place < places)
      check_and_fill(&live[place], heap, block, lengths[i]);
    else
      mallard_heap_free(heap, block);
  }
  for (i = below(20); i > 0; --i) {
    struct live* const ended = &live[below(places)];
    if (ended->block == NULL) continue;
    check_marks(ended->block, ended->size, ended->mark);
    mallard_chain_push_front(&chain, ended->block);
    ended->block = NULL;
  }
  mallard_heap_free_chain(heap, &chain);
}

void drive_at_random(unsigned flags, void* buffer, size_t buffer_size, unsigned seed) {
  static struct live live[places];
  mallard_heap* heap = NULL;
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  size_t step;
  state = seed;
  memset(live, 0, sizeof live);
  options.flags = flags;
  options.buffer = buffer;
  options.buffer_size = buffer_size;
  CHECK(mallard_heap_create(&heap, &options) == MALLARD_OK);
  for (step = 0; step < steps; ++step) {
    struct live* const place = &live[below(places)];
    const size_t what = below(12);
    if (what == 0)
      burst(heap, live);
    else if (place->block == NULL)
      allocate(heap, place);
    else if (what < 6)
      end(heap, place);
    else if (what < 8)
      reallocate(heap, place);
    else if (what < 10)
      resize(heap, place);
    else
      shrink(heap, place);
    if (step % 64 == 0) CHECK(mallard_heap_validate(heap) == NULL);
    if (step % 5000 == 4999) {
      mallard_heap_clear(heap);
      memset(live, 0, sizeof live);
    } else if (step % 500 == 0) {
      (void)mallard_heap_trim(heap, below(2) * 100000);
    }
  }
  mallard_heap_destroy(heap);
}
