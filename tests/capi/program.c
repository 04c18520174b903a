/* A program in C that links nothing but libmallard: every function once, then all of them at random. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "mallard.h"

/* A condition that is demanded; the first that does not hold ends the program. */
#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

/* Drives a heap at random and remembers what must hold: every block keeps what was written into it, over all
 * that is usable, until it ends; a heap that has nothing left harms none of them. */
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
  CHECK(size == 0 || (block[0] == mark && memcmp(block, block + 1, size - 1) == 0));
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

static void drive_at_random(unsigned kind, unsigned flags, void* buffer, size_t buffer_size, unsigned seed) {
  static struct live live[places];
  mallard_heap* heap = NULL;
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  size_t step;
  state = seed;
  memset(live, 0, sizeof live);
  options.kind = kind;
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

/* A reap or a region with a child that is cleared with it. */
static void family(unsigned kind) {
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  mallard_heap_statistics statistics = MALLARD_HEAP_STATISTICS;
  mallard_heap* parent = NULL;
  mallard_heap* child = NULL;
  int i;
  options.kind = kind;
  CHECK(mallard_heap_create(&parent, &options) == MALLARD_OK);
  CHECK(mallard_heap_create_child(&child, parent, MALLARD_CLEARED_WITH_PARENT) == MALLARD_OK);
  for (i = 1; i < 10000; ++i) {
    char* const block = mallard_heap_allocate(child, (size_t)i % 100);
    CHECK(block != NULL);
    *block = 1;
    if (i % 3 == 0) mallard_heap_free(child, block);
  }
  CHECK(mallard_heap_validate(child) == NULL);
  mallard_heap_clear(parent);
  CHECK(mallard_heap_measure(child, &statistics) == MALLARD_OK && statistics.in_use == 0);
  mallard_heap_destroy(parent);
  CHECK(mallard_heap_allocate(child, 1) == NULL);
  mallard_heap_destroy(child);
}

struct handed_over {
  mallard_heap* heap;
  void* block;
};

static void every_function(mallard_heap* heap) {
  static const size_t lengths[] = {1, 20, 300};
  mallard_heap_statistics statistics = MALLARD_HEAP_STATISTICS;
  mallard_chain chain = MALLARD_CHAIN;
  mallard_command_result grown;
  void* aligned = mallard_heap_allocate_aligned(heap, 256, 1000);
  int* numbers = mallard_heap_allocate(heap, 10 * sizeof *numbers);
  size_t i;

  CHECK(aligned != NULL && (uintptr_t)aligned % 256 == 0);
  CHECK(numbers != NULL && mallard_heap_usable_size(heap, numbers) >= 10 * sizeof *numbers);
  for (i = 0; i < 10; ++i) numbers[i] = (int)i;
  grown = mallard_heap_allocation_command(heap, MALLARD_EXPAND_FWD | MALLARD_ALLOCATE_NEW, sizeof *numbers,
                                          sizeof *numbers, 20, 40, numbers);
  CHECK(grown.first != NULL && grown.received >= 20);
  if (!grown.reused) {
    memcpy(grown.first, numbers, 10 * sizeof *numbers);
    mallard_heap_free(heap, numbers);
  }
  numbers = mallard_heap_reallocate(heap, grown.first, 1000 * sizeof *numbers);
  CHECK(numbers != NULL);
  for (i = 0; i < 10; ++i) CHECK(numbers[i] == (int)i);

  CHECK(mallard_heap_allocate_nodes(heap, &chain, 100, 24, 8, MALLARD_CONTIGUOUS_DEFAULT));
  CHECK(mallard_heap_allocate_arrays(heap, &chain, lengths, 3, sizeof(double), sizeof(double),
                                     MALLARD_CONTIGUOUS_ALL));
  CHECK(chain.count == 103);
  mallard_heap_free(heap, mallard_chain_pop_front(&chain));
  mallard_heap_free_chain(heap, &chain);
  CHECK(chain.count == 0 && chain.first == NULL);

  CHECK(mallard_heap_measure(heap, &statistics) == MALLARD_OK);
  CHECK(statistics.in_use >= 1000 + 1000 * sizeof *numbers && statistics.held > statistics.in_use);
  CHECK(mallard_heap_validate(heap) == NULL);
  mallard_heap_clear(heap);
  CHECK(mallard_heap_trim(heap, 0) > 0);
  CHECK(mallard_heap_measure(heap, &statistics) == MALLARD_OK);
  CHECK(statistics.in_use == 0 && statistics.cached == 0);
}

/* Ends what another thread has allocated, and leaves a block to it. */
static int elsewhere(void* shared) {
  struct handed_over* const told = shared;
  mallard_heap_free(told->heap, told->block);
  mallard_heap_adopt(told->heap);
  told->block = mallard_heap_allocate(told->heap, 300);
  return told->block != NULL ? 0 : 1;
}

static void between_threads(mallard_heap* heap) {
  struct handed_over told;
  thrd_t thread;
  int ended;
  told.heap = heap;
  told.block = mallard_heap_allocate(heap, 100);
  CHECK(told.block != NULL);
  CHECK(thrd_create(&thread, elsewhere, &told) == thrd_success);
  CHECK(thrd_join(thread, &ended) == thrd_success && ended == 0);
  mallard_heap_adopt(heap);
  memset(told.block, 1, 300);
  mallard_heap_free(heap, told.block);
  CHECK(mallard_heap_validate(heap) == NULL);
}

/* Heaps of segments among blocks of the program's malloc, which may be one of segments as well: neither
 * disturbs the other, and a destroyed heap takes nothing else with it. */
static void one_for_each_owner(void) {
  enum { heaps = 40, blocks = 500 };
  static unsigned char* of_malloc[heaps][blocks];
  mallard_heap* heap[heaps];
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  size_t h;
  size_t i;
  options.kind = MALLARD_SEGMENTS;
  for (h = 0; h < heaps; ++h) {
    CHECK(mallard_heap_create(&heap[h], &options) == MALLARD_OK);
    for (i = 0; i < blocks; ++i) {
      const size_t size = 1 + any_size();
      unsigned char* const block = mallard_heap_allocate(heap[h], size);
      of_malloc[h][i] = malloc(size);
      CHECK(block != NULL && of_malloc[h][i] != NULL);
      memset(block, 255, size);
      memset(of_malloc[h][i], (int)h, size);
      if (i % 2 == 0) mallard_heap_free(heap[h], block);
    }
    between_threads(heap[h]);
  }
  for (h = 0; h < heaps; h += 2) mallard_heap_destroy(heap[h]);
  for (h = 0; h < heaps; ++h)
    for (i = 0; i < blocks; ++i) {
      CHECK(of_malloc[h][i][0] == h);
      free(of_malloc[h][i]);
    }
  for (h = 1; h < heaps; h += 2) {
    CHECK(mallard_heap_validate(heap[h]) == NULL);
    mallard_heap_destroy(heap[h]);
  }
}

int main(void) {
  static unsigned char buffer[1 << 20];
  mallard_heap* heap = NULL;
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  unsigned seed;

  CHECK(mallard_heap_create(&heap, NULL) == MALLARD_OK);
  every_function(heap);
  mallard_heap_destroy(heap);
  options.buffer = buffer;
  options.buffer_size = sizeof buffer;
  for (options.flags = 0; options.flags <= (MALLARD_LOCKED | MALLARD_CACHED); ++options.flags) {
    CHECK(mallard_heap_create(&heap, &options) == MALLARD_OK);
    every_function(heap);
    between_threads(heap);
    mallard_heap_destroy(heap);
  }

  for (seed = 1; seed <= 6; ++seed) {
    drive_at_random(MALLARD_BEST_FIT, seed % 3, NULL, 0, seed);
    drive_at_random(MALLARD_BEST_FIT, seed % 2 * MALLARD_CACHED, buffer, sizeof buffer >> seed % 5, seed);
    drive_at_random(MALLARD_SEGMENTS, seed % 2 * MALLARD_LOCKED, NULL, 0, seed);
  }
  one_for_each_owner();
  family(MALLARD_REGION);
  family(MALLARD_REAP);
  return 0;
}
