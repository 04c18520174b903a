/* Requests of a server in C: what a request needs lives in a reap of its own, a child of its connection's
 * reap. It ends in one call, and what it frees before serves again. */
#include <mallard.h>
#include <stdio.h>

struct header {
  struct header* next;
  const char* name;
};

/* A copy of the text in a heap; NULL if there is no memory. */
static char* copy(mallard_heap* heap, const char* text) {
  const size_t size = strlen(text) + 1;
  char* const copied = mallard_heap_allocate(heap, size);
  return copied != NULL ? memcpy(copied, text, size) : NULL;
}

/* Bytes in use. */
static size_t in_use(const mallard_heap* heap) {
  mallard_heap_statistics told = MALLARD_HEAP_STATISTICS;
  return mallard_heap_measure(heap, &told) == MALLARD_OK ? told.in_use : 0;
}

/* Reads its headers, each into a buffer that it frees; returns how many places the buffers had, 0 for none.
 */
static int serve(mallard_heap* request) {
  static const char* const names[] = {"host", "accept", "user-agent"};
  struct header* first = NULL;
  void* last_place = NULL;
  int places = 0;
  size_t i;
  for (i = 0; i < 3; ++i) {
    char* const buffer = mallard_heap_allocate(request, 1000);
    struct header* const h = mallard_heap_allocate(request, sizeof *h);
    if (buffer == NULL || h == NULL) return 0;
    if (buffer != last_place) ++places;
    last_place = buffer;
    strcpy(buffer, names[i]);
    h->name = copy(request, buffer);
    h->next = first;
    first = h;
    mallard_heap_free(request, buffer); /* the next one gets its place */
  }
  printf("the last header is %s\n", first->name);
  return places;
}

int main(void) {
  mallard_heap_options of_a_region = MALLARD_HEAP_OPTIONS;
  mallard_heap_options of_a_reap = MALLARD_HEAP_OPTIONS;
  mallard_heap* process = NULL;
  mallard_heap* connection = NULL;
  mallard_heap* request = NULL;
  of_a_region.kind = MALLARD_REGION;
  of_a_reap.kind = MALLARD_REAP;

  if (mallard_heap_create(&process, &of_a_reap) != MALLARD_OK) return 1;
  if (mallard_heap_create_child(&connection, process, 0) != MALLARD_OK) return 1;
  if (mallard_heap_create_child(&request, connection, MALLARD_CLEARED_WITH_PARENT) != MALLARD_OK) return 1;

  printf("%d place for three buffers\n", serve(request));
  printf("the request uses memory: %s\n", in_use(request) != 0 ? "yes" : "no");
  mallard_heap_clear(connection);
  printf("after the connection was cleared: %s\n", in_use(request) != 0 ? "yes" : "no");

  mallard_heap_destroy(process);
  printf("after the process has ended: %s\n", mallard_heap_allocate(request, 1) != NULL ? "served" : "ended");
  mallard_heap_destroy(request);
  mallard_heap_destroy(connection);

  /* A region: blocks side by side, ended as a whole. */
  if (mallard_heap_create(&process, &of_a_region) != MALLARD_OK) return 1;
  {
    const char* const one = copy(process, "fifteen letters");
    const char* const two = copy(process, "sixteen bytes on");
    if (one == NULL || two == NULL) return 1;
    printf("%d bytes apart\n", (int)(two - one));
  }
  mallard_heap_destroy(process);
  return 0;
}

// It prints:
//     the last header is user-agent
//     1 place for three buffers
//     the request uses memory: yes
//     after the connection was cleared: no
//     after the process has ended: ended
//     16 bytes apart
