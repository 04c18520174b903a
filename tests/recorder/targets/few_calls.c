// few_calls: one malloc, one calloc, one realloc and one free; says which malloc served them, by a size
// that only other_malloc would call usable.
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  char* p = malloc(1001);
  char* zeros = calloc(3, 1001);
  const int other = malloc_usable_size(p) == 1001 && malloc_usable_size(zeros) == 3003;
  p = realloc(p, 2002);
  free(p);
  return other ? 10 : 11;
}
