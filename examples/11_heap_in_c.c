/* A heap in C: an array that grows where it is, a list whose nodes come and go in one call, a buffer that is
 * all there is. */
#include <mallard.h>
#include <stdio.h>

struct node {
  struct node* next;
  int value;
};

/* Doubles the array's capacity, in place where there is room; 0 if there is no memory. */
static size_t grow(mallard_heap* heap, int** numbers, size_t capacity, int* moves) {
  const mallard_command_result now =
      mallard_heap_allocation_command(heap, MALLARD_EXPAND_FWD | MALLARD_ALLOCATE_NEW, sizeof **numbers,
                                      sizeof **numbers, capacity + 1, 2 * capacity, *numbers);
  if (now.first == NULL) return 0;
  if (!now.reused) {
    memcpy(now.first, *numbers, capacity * sizeof **numbers);
    mallard_heap_free(heap, *numbers);
    ++*moves;
  }
  *numbers = now.first;
  return now.received;
}

static int fill_an_array(mallard_heap* heap) {
  int moves = 0;
  size_t capacity = 4;
  size_t count;
  int* numbers = mallard_heap_allocate(heap, capacity * sizeof *numbers);
  if (numbers == NULL) return 0;
  for (count = 0; count < 500; ++count) {
    if (count == capacity && (capacity = grow(heap, &numbers, capacity, &moves)) == 0) return 0;
    numbers[count] = (int)count;
  }
  printf("%zu numbers, the last is %d, moved %d times\n", count, numbers[count - 1], moves);
  mallard_heap_free(heap, numbers);
  return 1;
}

static int fill_a_list(mallard_heap* heap) {
  mallard_chain chain = MALLARD_CHAIN;
  struct node* first = NULL;
  struct node* n;
  int sum = 0;
  if (!mallard_heap_allocate_nodes(heap, &chain, 100, sizeof *first, _Alignof(struct node),
                                   MALLARD_CONTIGUOUS_DEFAULT))
    return 0;
  while ((n = mallard_chain_pop_front(&chain)) != NULL) {
    n->value = (int)chain.count;
    n->next = first;
    first = n;
  }
  for (n = first; n != NULL; n = n->next) sum += n->value;
  printf("100 nodes in one call, their sum is %d\n", sum);
  while ((n = first) != NULL) {
    first = n->next;
    mallard_chain_push_back(&chain, n);
  }
  mallard_heap_free_chain(heap, &chain);
  return 1;
}

int main(void) {
  static unsigned char buffer[64 * 1024];
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  mallard_heap_statistics statistics = MALLARD_HEAP_STATISTICS;
  mallard_heap* heap;

  if (mallard_heap_create(&heap, NULL) != MALLARD_OK) return 1;
  if (!fill_an_array(heap) || !fill_a_list(heap)) return 1;
  if (mallard_heap_measure(heap, &statistics) != MALLARD_OK) return 1;
  printf("%zu bytes in use\n", statistics.in_use);
  mallard_heap_destroy(heap);

  options.buffer = buffer;
  options.buffer_size = sizeof buffer;
  if (mallard_heap_create(&heap, &options) != MALLARD_OK) return 1;
  printf("in 64 KiB, 100000 bytes: %s\n", mallard_heap_allocate(heap, 100000) == NULL ? "no" : "yes");
  printf("in 64 KiB, 50000 bytes: %s\n", mallard_heap_allocate(heap, 50000) == NULL ? "no" : "yes");
  mallard_heap_destroy(heap); /* with what still lives in it */
  return 0;
}

// It prints:
//     500 numbers, the last is 499, moved 0 times
//     100 nodes in one call, their sum is 4950
//     0 bytes in use
//     in 64 KiB, 100000 bytes: no
//     in 64 KiB, 50000 bytes: yes
