/* A program in C that links nothing but libmallard: every function once, then all of them at random. */
#include <stdint.h>
#include <string.h>
#include <threads.h>

#include "check.h"
#include "mallard.h"

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
  memset(told.block, 1, 300);
  mallard_heap_free(heap, told.block);
  CHECK(mallard_heap_validate(heap) == NULL);
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
    drive_at_random(seed % 3, NULL, 0, seed);
    drive_at_random(seed % 2 * MALLARD_CACHED, buffer, sizeof buffer >> seed % 5, seed);
  }
  family(MALLARD_REGION);
  family(MALLARD_REAP);
  return 0;
}
